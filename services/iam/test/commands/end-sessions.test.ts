import { copyFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, expect, test } from "vitest";
import { endEverySession } from "../../src/sessions/end-every-session.ts";
import { sessionRow } from "../../src/sessions/login-session.ts";
import { Revocations } from "../../src/sessions/revocations.ts";
import { ProviderDatabase } from "../../src/store/provider-database.ts";
import { loggedIn, startSelf, whoIs } from "../support/browser-login.ts";
import { postgres, sqlite, type TestDatabase } from "../support/databases.ts";
import { AS_HUB, type IamService } from "../support/iam-service.ts";
import { type LoggedIn, logInAt, withToken } from "../support/log-in-at.ts";
import { PASSWORD } from "../support/memory-accounts.ts";
import { resetLinkOf } from "../support/passwords.ts";
import { runIam } from "../support/run-program.ts";

const FILES = ["iam.db", "iam.relationships.db"];

let iam: IamService;
beforeAll(async () => {
  iam = await startSelf({ authn: { mode: "hybrid" } });
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

test("a restored backup brings no ended login back once all sessions were ended, and people log in again [IDP-22]", async () => {
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
    authn: { mode: "hybrid" },
    folder: iam.folder,
    port: Number(new URL(iam.origin).port),
  });
  for (const tokens of [rotated, ended, current]) expect((await refresh(tokens)).status).toBe(400);
  for (const tokens of [rotated, ended, current]) expect(await me(tokens)).toBe(401);
  expect(await whoIs(iam, browser)).toBe(401);
  expect(await opens()).toBe(404);
  const again = await logInAt(iam, "alice", PASSWORD);
  expect((await refresh(again)).status).toBe(200);
  expect((await endSessions()).stdout).toBe("sessions ended: 1\n");
  await expect.poll(() => me(again)).toBe(401);
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
