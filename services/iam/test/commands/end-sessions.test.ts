import { generateKeyPairSync, randomUUID } from "node:crypto";
import { copyFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { SignJWT } from "jose";
import { openAuditLog } from "svc-access/runtime";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ProviderDatabase } from "../../src/ground/store/provider-database.ts";
import { endEverySession } from "../../src/people/sessions/end-every-session.ts";
import { sessionRow } from "../../src/people/sessions/login-session.ts";
import { Revocations } from "../../src/people/sessions/revocations.ts";
import { loggedIn, startSelf, whoIs } from "../support/browser-login.ts";
import { postgres, sqlite, type TestDatabase } from "../support/databases.ts";
import { AS_HUB, type IamService } from "../support/iam-service.ts";
import { type LoggedIn, logInAt, withToken } from "../support/log-in-at.ts";
import { PASSWORD } from "../support/memory-accounts.ts";
import { resetLinkOf } from "../support/passwords.ts";
import { runIam } from "../support/run-program.ts";
import { IS_PRODUCTION_STACK } from "../support/stack.ts";

const FILES = ["iam.db", "iam.relationships.db"];

const pair = generateKeyPairSync("ec", { namedCurve: "P-256" });
/** A declared client, which authenticates by assertions. */
const ROBOT = {
  id: randomUUID(),
  name: "Robot",
  flows: ["service_account"],
  public_keys: [pair.publicKey.export({ format: "jwk" })],
};
const OPTIONS = { authn: { mode: "hybrid" }, iam: { clients: [ROBOT] } };

let iam: IamService;
beforeAll(async () => {
  iam = await startSelf(OPTIONS);
});
afterAll(() => iam.stop());

const path = (file: string) => join(iam.folder, file);
const refresh = ({ refreshToken }: LoggedIn) =>
  iam.call("POST", "/v1/iam/tokens:refresh", { refreshToken }, AS_HUB);
const me = async (tokens: LoggedIn) =>
  (await iam.call("GET", "/v1/iam/me", undefined, withToken(tokens))).status;
const endSessions = () => runIam(["end-sessions", path("service.yaml")]);

/** Ends the session of a token. */
async function end(tokens: LoggedIn): Promise<void> {
  const mine = "/v1/iam/me/sessions";
  const { body } = await iam.call("GET", mine, undefined, withToken(tokens));
  const { id } = body.sessions.find((one: { current?: boolean }) => one.current);
  const { status } = await iam.call("DELETE", `${mine}/${id}`, undefined, withToken(tokens));
  expect(status).toBe(200);
}

function backUp(): void {
  for (const file of FILES) {
    const database = new DatabaseSync(path(file), { readOnly: true });
    database.prepare("vacuum into ?").run(path(`${file}.backup`));
    database.close();
  }
}

async function restore(): Promise<void> {
  for (const file of FILES) {
    for (const suffix of ["", "-wal", "-shm"]) rmSync(path(`${file}${suffix}`), { force: true });
    copyFileSync(path(`${file}.backup`), path(file));
  }
}

// The backup is of SQLite's files; that of PostgreSQL is in resilience/restore.test.ts.
test.skipIf(IS_PRODUCTION_STACK)(
  "a restored backup brings no ended login back once all sessions were ended, and people log in again [IDP-22]",
  async () => {
    const rotated = await logInAt(iam, "alice", PASSWORD);
    const ended = await logInAt(iam, "alice", PASSWORD);
    const browser = await loggedIn(iam, "bob");
    const alice = await iam.call("GET", "/v1/iam/me", undefined, withToken(rotated));
    const { url } = await resetLinkOf(iam, alice.body.subjectId);
    const opens = async () => (await fetch(url, { redirect: "manual" })).status;
    expect(await opens()).toBe(303);
    backUp();
    const current = (await refresh(rotated)).body.tokens as LoggedIn;
    await end(ended);
    expect((await refresh(ended)).status).toBe(400);
    await iam.stop();
    await restore();
    const { status, stdout, stderr } = await endSessions();
    expect([status, stderr]).toEqual([0, ""]);
    // Those of two logins and a browser, and that of the browser at this service.
    expect(stdout).toBe("sessions ended: 4\n");
    iam = await startSelf({
      ...OPTIONS,
      folder: iam.folder,
      port: Number(new URL(iam.origin).port),
    });
    for (const tokens of [rotated, ended, current])
      expect((await refresh(tokens)).status).toBe(400);
    for (const tokens of [rotated, ended, current]) expect(await me(tokens)).toBe(401);
    expect(await whoIs(iam, browser)).toBe(401);
    expect(await opens()).toBe(404);
    const again = await logInAt(iam, "alice", PASSWORD);
    expect((await refresh(again)).status).toBe(200);
    expect((await endSessions()).stdout).toBe("sessions ended: 1\n");
    await expect.poll(() => me(again), { message: "the ended login is refused" }).toBe(401);
  },
);

/** An assertion of the declared client (RFC 7523). */
const assertion = () =>
  new SignJWT({ iss: ROBOT.id, sub: ROBOT.id, jti: randomUUID() })
    .setProtectedHeader({ alg: "ES256" })
    .setAudience(`${iam.origin}/v1/iam/oidc`)
    .setIssuedAt()
    .setExpirationTime("1m")
    .sign(pair.privateKey);

/** Gets a token by an assertion. */
async function tokenBy(client_assertion: string) {
  const client_assertion_type = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
  const grant = { grant_type: "client_credentials", client_assertion_type, client_assertion };
  const url = `${iam.origin}/v1/iam/oidc/token`;
  const response = await fetch(url, { method: "POST", body: new URLSearchParams(grant) });
  return [response.status, ((await response.json()) as { error?: string }).error];
}

test("beside a running service the declared clients stay, and no used assertion can be used again [IDP-22]", async () => {
  const used = await assertion();
  expect(await tokenBy(used)).toEqual([200, undefined]);
  const login = await logInAt(iam, "alice", PASSWORD);
  expect((await endSessions()).status).toBe(0);
  const job = iam.options.jobs?.find(({ name }) => name === "provider_keys");
  await job?.run(new AbortController().signal);
  expect(await tokenBy(await assertion())).toEqual([200, undefined]);
  expect(await tokenBy(used)).toEqual([401, "invalid_client"]);
  expect((await refresh(login)).status).toBe(400);
});

test("its end is audited, with the number of sessions [IDP-23]", async () => {
  await logInAt(iam, "alice", PASSWORD);
  const { stdout } = await endSessions();
  const log = await openAuditLog(iam.options.configuration);
  const { events } = await log.list({ type: "session.all_ended" });
  await log.close();
  const { data } = events[0] ?? {};
  expect([data?.risk_level, data?.rpc]).toEqual(["CRITICAL", ""]);
  expect(stdout).toBe(`sessions ended: ${data?.details?.["sessions"]}\n`);
  expect(data?.details?.["sessions"]).toBeGreaterThan(0);
});

test("a configuration that does not exist is a problem that a person must fix", async () => {
  const { status, stdout, stderr } = await runIam(["end-sessions", "/none"]);
  expect([status, stdout]).toEqual([2, ""]);
  expect(stderr).toContain("/none");
});

test.each([
  ["SQLite", async () => sqlite],
  ["PostgreSQL", postgres],
] as const)("many sessions are ended in batches, in %s", async (_, prepare) => {
  const create: (() => Promise<TestDatabase>) | undefined = await prepare();
  if (create === undefined) return;
  const database = (await create()).open();
  const now = 1_800_000_000_000;
  for (let index = 0; index < 1200; index++) {
    const login = {
      id: `s${index}`,
      kind: "browser",
      accountId: "alice",
      clients: [{ clientId: "c", sid: `sid${index}`, grantId: "" }],
      address: "",
      userAgent: "",
      expireTime: now + 1000,
      endTime: undefined,
    } as const;
    // The tokens of the first thousand have expired long ago.
    const row = sessionRow(login, index < 1000 ? now - 3_600_000 : now);
    await database.kysely.insertInto("iam_sessions").values(row).execute();
  }
  const opened = new ProviderDatabase(database);
  const revocations = new Revocations(opened, () => now);
  expect(await endEverySession(opened, revocations, () => now)).toBe(1200);
  expect(await endEverySession(opened, revocations, () => now)).toBe(0);
  expect((await revocations.after(-1, 1000)).revocations).toHaveLength(200);
});
