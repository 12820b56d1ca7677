import type { Kysely } from "svc-access/database";
import { beforeEach, describe, expect, test } from "vitest";
import { WorkQueue } from "../../../src/ground/queue/work-queue.ts";
import type { UserTables } from "../../../src/ground/store/user-tables.ts";
import { LocalAccounts } from "../../../src/people/accounts/local-accounts.ts";
import { PasswordLogin } from "../../../src/people/accounts/password-login.ts";
import { PasswordHasher } from "../../../src/people/accounts/passwords/password-hasher.ts";
import { LoginThrottle } from "../../../src/people/accounts/throttle/login-throttle.ts";
import { stackDatabase } from "../../support/databases.ts";
import { CHEAP } from "../../support/hash-cost.ts";

const PASSWORD = "correct horse battery staple";
const HERE = "203.0.113.7";
const { signal } = new AbortController();
/** The time of a call is not over in the tests that do not say so. */
const CALL = { address: HERE, signal, deadline: Number.MAX_SAFE_INTEGER };

let database: Kysely<UserTables>;
let accounts: LocalAccounts;
let now = 1_800_000_000_000;

beforeEach(async () => {
  database = (await stackDatabase()).open().kysely as unknown as Kysely<UserTables>;
  accounts = new LocalAccounts(database, "acme");
  const passwordHash = await new PasswordHasher(CHEAP).hash(PASSWORD);
  const alice = { username: "Alice", displayName: "Alice", email: "alice@example.com" };
  await accounts.create({ ...alice, passwordHash });
});

function loginWith(hasher = new PasswordHasher(CHEAP)): PasswordLogin {
  return new PasswordLogin({ accounts, hasher, throttle: new LoginThrottle(database, () => now) });
}

test("the right password is accepted, with the user name in any letter case", async () => {
  const result = await loginWith().authenticate({
    username: "aLICE",
    password: PASSWORD,
    ...CALL,
  });
  expect(result).toMatchObject({ outcome: "ok", account: { username: "Alice" } });
});

test.each([
  ["another password", "alice", "correct horse battery"],
  ["an empty one", "alice", ""],
  ["an account that does not exist", "bob", PASSWORD],
  ["an empty user name", "", PASSWORD],
  ["a user name that cannot be one", "*\0", PASSWORD],
  ["a user name of a megabyte", "a".repeat(1_000_000), PASSWORD],
  ["a password of a megabyte", "alice", "a".repeat(1_000_000)],
])("%s is answered alike [IDP-26]", async (_, username, password) => {
  const attempt = { username, password, ...CALL };
  expect(await loginWith().authenticate(attempt)).toEqual({ outcome: "wrong" });
});

test("a disabled account is answered like a wrong password [IDP-26]", async () => {
  await database.updateTable("iam_users").set({ disabled: 1 }).execute();
  const attempt = { username: "alice", password: PASSWORD, ...CALL };
  expect(await loginWith().authenticate(attempt)).toEqual({ outcome: "wrong" });
});

test("after five failures the right password has to wait too, and is accepted then", async () => {
  const login = loginWith();
  const attempt = { username: "alice", password: PASSWORD, ...CALL };
  for (let count = 0; count < 5; count++) {
    expect(await login.authenticate({ ...attempt, password: "wrong" })).toEqual({
      outcome: "wrong",
    });
  }
  expect(await login.authenticate(attempt)).toEqual({ outcome: "slowed", retryAfterMs: 1000 });
  // It is the same for a name that nobody has.
  const nobody = { ...attempt, username: "nobody" };
  for (let count = 0; count < 5; count++) await login.authenticate(nobody);
  expect(await login.authenticate(nobody)).toEqual({ outcome: "slowed", retryAfterMs: 1000 });
  now += 1000;
  expect(await login.authenticate(attempt)).toMatchObject({ outcome: "ok" });
});

test("when too many passwords are being checked, the next one is refused", async () => {
  const hasher = new PasswordHasher(CHEAP, new WorkQueue(0, 0));
  const attempt = { username: "alice", password: PASSWORD, ...CALL };
  expect(await loginWith(hasher).authenticate(attempt)).toEqual({ outcome: "busy" });
});

describe("an account with very many failures is answered later, within the time of the call", () => {
  test.each([
    ["of the default", 5000, 3000],
    ["that is long", 60_000, 4000],
    ["that is just enough", 2001, 1],
    ["that is short", 1500, 0],
  ])("%s", async (_, timeoutMs, pauseMs) => {
    const throttle = new LoginThrottle(database, () => now);
    for (let count = 0; count < 40; count++) await throttle.begin("alice", `198.51.100.${count}`);
    const waits: number[] = [];
    const login = new PasswordLogin({
      accounts,
      hasher: new PasswordHasher(CHEAP),
      throttle,
      now: () => now,
      wait: async (ms) => {
        waits.push(ms);
        now += ms;
      },
    });
    const begin = now;
    const attempt = { username: "alice", password: PASSWORD, ...CALL, deadline: begin + timeoutMs };
    expect(await login.authenticate(attempt)).toMatchObject({ outcome: "ok" });
    expect(waits).toEqual(pauseMs === 0 ? [] : [pauseMs]);
  });
});

test("a password whose turn does not come in the time of the call is refused as by a full queue", async () => {
  const queue = new WorkQueue(1, 10);
  let release = () => {};
  const running = queue.run(() => new Promise<void>((resolve) => void (release = resolve)));
  const login = loginWith(new PasswordHasher(CHEAP, queue));
  const attempt = { username: "alice", password: PASSWORD, ...CALL };
  expect(await login.authenticate({ ...attempt, deadline: Date.now() + 510 })).toEqual({
    outcome: "busy",
  });
  // Who goes away is not answered.
  const gone = login.authenticate({ ...attempt, signal: AbortSignal.abort(new Error("gone")) });
  await expect(gone).rejects.toThrow("gone");
  release();
  await running;
  expect(await login.authenticate(attempt)).toMatchObject({ outcome: "ok" });
});

test("a hash of another cost is replaced at the next login", async () => {
  const before = (await accounts.findForLogin("alice"))?.passwordHash;
  const attempt = { username: "alice", password: PASSWORD, ...CALL };
  await loginWith(new PasswordHasher({ ...CHEAP, passes: 2 })).authenticate(attempt);
  const after = (await accounts.findForLogin("alice"))?.passwordHash;
  expect(after).not.toBe(before);
  expect(after).toContain("t=2");
  expect(await loginWith().authenticate(attempt)).toMatchObject({ outcome: "ok" });
});
