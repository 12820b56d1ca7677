/** Attempts to log in are counted by their outcome, where they are checked. */
import { randomUUID } from "node:crypto";
import type { Kysely } from "svc-access/database";
import { afterAll, expect, test } from "vitest";
import type { UserTables } from "../../../../src/ground/store/user-tables.ts";
import { LocalAccounts } from "../../../../src/people/accounts/local-accounts.ts";
import { PasswordLogin } from "../../../../src/people/accounts/password-login.ts";
import { PasswordHasher } from "../../../../src/people/accounts/passwords/password-hasher.ts";
import { LoginAttempts } from "../../../../src/people/accounts/throttle/login-attempts.ts";
import { LoginThrottle } from "../../../../src/people/accounts/throttle/login-throttle.ts";
import { Factors } from "../../../../src/people/factors/factors.ts";
import { stackDatabase } from "../../../support/databases.ts";
import { CHEAP } from "../../../support/hash-cost.ts";
import { CONSOLE, startProvider, stopAll } from "../../../support/provider-server.ts";

afterAll(stopAll);

const HERE = "203.0.113.7";
const { signal } = new AbortController();

/** What is not 0, by method and outcome. */
async function counted(counts: LoginAttempts): Promise<Record<string, number>> {
  const samples = await counts.metric.read();
  const known = samples.map(({ labels, value }) => [
    `${labels?.["method"]} ${labels?.["outcome"]}`,
    value,
  ]);
  return Object.fromEntries(known.filter(([, value]) => value !== 0));
}

test("all are there from the start, at 0", async () => {
  const counts = new LoginAttempts();
  expect(await counts.metric.read()).toHaveLength(12);
  expect(await counted(counts)).toEqual({});
});

test("seven wrong passwords, of which the last are slowed, and a right one", async () => {
  const database = (await stackDatabase()).open().kysely as unknown as Kysely<UserTables>;
  const accounts = new LocalAccounts(database, "acme");
  const hasher = new PasswordHasher(CHEAP);
  const passwordHash = await hasher.hash("correct horse battery staple");
  const alice = { username: "alice", displayName: "Alice", email: "alice@example.com" };
  await accounts.create({ ...alice, passwordHash });
  const counts = new LoginAttempts();
  // Its time stands still.
  const throttle = new LoginThrottle(database, () => 1_800_000_000_000);
  const logins = new PasswordLogin({ accounts, hasher, throttle, counts });
  const enter = (password: string, address: string) => {
    const deadline = Number.MAX_SAFE_INTEGER;
    return logins.authenticate({ username: "alice", password, address, signal, deadline });
  };
  for (let attempt = 0; attempt < 7; attempt++) await enter("wrong", HERE);
  await enter("correct horse battery staple", "198.51.100.1");
  const { "password failed": failed = 0, ...others } = await counted(counts);
  const { "password slowed": slowed = 0, ...rest } = others;
  expect(failed + slowed).toBe(7);
  expect(slowed).toBeGreaterThan(0);
  expect(rest).toEqual({ "password succeeded": 1 });
});

test("second factors, and passkeys in place of a password", async () => {
  const counts = new LoginAttempts();
  const shownAgain: string[] = [];
  let waitMs: number | undefined;
  const factors = new Factors({
    store: {
      apps: async () => [],
      useCode: async () => false,
      areAppsRefused: async () => false,
      countFailure: async () => true,
      forgetFailures: async (id: string) => shownAgain.push(id),
    } as never,
    passkeys: { verify: async (id: string, response: string) => response && (id ?? "a") } as never,
    throttle: { begin: async () => ({ allowed: true, pauseMs: 0 }), succeeded: async () => {} },
    quota: { use: async () => undefined, wait: async () => waitMs },
    isRequired: async () => false,
    issuer: "acme",
    counts,
  });
  await factors.verifyCode("a", "000000", HERE);
  waitMs = 1000;
  await factors.verifyCode("a", "000000", HERE);
  await factors.verifyPasskey(undefined, "right", "challenge");
  await factors.verifyPasskey("a", "right", "challenge");
  expect(await counted(counts)).toEqual({
    "second_factor failed": 1,
    "second_factor slowed": 1,
    "second_factor succeeded": 1,
    "passkey succeeded": 1,
  });
  // Wrong codes before do not count any more.
  expect(shownAgain).toEqual(["a", "a"]);
});

test("clients and their secrets", async () => {
  const counts = new LoginAttempts();
  const robot = {
    ...CONSOLE,
    id: randomUUID(),
    name: "Robot",
    redirectUris: [],
    postLogoutRedirectUris: [],
    flows: ["service_account"],
  } as const;
  const iam = await startProvider({ counts, clients: [robot] });
  const ask = (secret: string) =>
    fetch(`${iam.issuer}/token`, {
      method: "POST",
      headers: { authorization: `Basic ${btoa(`${robot.id}:${secret}`)}` },
      body: new URLSearchParams({ grant_type: "client_credentials" }),
    });
  expect((await ask("wrong")).status).toBe(401);
  expect((await ask(CONSOLE.secret as string)).status).toBe(200);
  expect(await counted(counts)).toEqual({ "client failed": 1, "client succeeded": 1 });
});
