import { randomBytes } from "node:crypto";
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import type { Kysely } from "svc-access/database";
import { openAuditLog } from "svc-access/runtime";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runProgram } from "../../../../test/support/programs.ts";
import { SEALED_COLUMNS } from "../../src/commands/rewrap-database.ts";
import { EncryptionKeys } from "../../src/ground/secrets/encryption-keys.ts";
import { SecretBox } from "../../src/ground/secrets/secret-box.ts";
import { FactorStore } from "../../src/people/factors/factor-store.ts";
import { newTotpSecret } from "../../src/people/factors/one-time-codes.ts";
import { Browser } from "../support/browser.ts";
import { databaseOf, logInBrowser } from "../support/browser-login.ts";
import { AS_HUB, asUser, type IamService, startIam } from "../support/iam-service.ts";
import { type LoggedIn, logInAt } from "../support/log-in-at.ts";
import { MAIN, runIam } from "../support/run-program.ts";

const PASSWORD = "correct horse battery staple";
const line = () => `${randomBytes(32).toString("base64")}\n`;

const SELF = { iam: { browser_login: "self" } };
let iam: IamService;
beforeAll(async () => {
  iam = await startIam(SELF);
  const resource = { type: "zone", id: "acme" };
  const subject = { type: "user", id: "root" };
  const relationship = { resource, relation: "owner", subject };
  await iam.options.engine?.writeRelationships({ updates: [{ operation: "TOUCH", relationship }] });
  const alice = { username: "alice", displayName: "Alice", email: "a@example.com" };
  await iam.call("POST", "/v1/users", { ...alice, password: PASSWORD }, asUser("root"));
});
afterAll(() => iam.stop());

const keyFile = () => join(iam.folder, "encryption-key");
const rewrap = (file = join(iam.folder, "service.yaml")) => runIam(["rewrap", file]);

async function refresh({ refreshToken }: LoggedIn) {
  const { status, body } = await iam.call(
    "POST",
    "/v1/iam/tokens:refresh",
    { refreshToken },
    AS_HUB,
  );
  expect(status, JSON.stringify(body)).toBe(200);
  return body.tokens as LoggedIn;
}

async function rewrapEvents() {
  const log = await openAuditLog(iam.options.configuration);
  const { events } = await log.list({ type: "encryption_key.rewrapped" });
  await log.close();
  return events;
}

/** Starts the service again on the same data, as after a change of the key file. */
async function restart(): Promise<void> {
  await iam.stop();
  const port = Number(new URL(iam.origin).port);
  iam = await startIam({ ...SELF, folder: iam.folder, port });
}

test("the encryption key is replaced while the service runs, and logins continue [IDP-7]", async () => {
  const [old, fresh] = [readFileSync(keyFile(), "utf8").trim(), line()];
  let tokens = await logInAt(iam, "alice", PASSWORD);
  // The new key is first, and the old one still opens what it has sealed.
  writeFileSync(keyFile(), `${fresh}${old}\n`);
  await restart();
  tokens = await refresh(tokens);
  const { status, stdout, stderr } = await rewrap();
  expect([status, stderr]).toEqual([0, ""]);
  const events = await rewrapEvents();
  const rewrapped = Number(stdout.split(" ")[0]);
  expect(events.map(({ data }) => [data.risk_level, data.details])).toEqual([
    ["HIGH", { rewrapped, unopened: 0 }],
  ]);
  expect(stdout).toMatch(/^[1-9]\d* values are now encrypted with the first key\n$/);
  tokens = await refresh(tokens);
  writeFileSync(keyFile(), fresh);
  await restart();
  await refresh(tokens);
  expect((await rewrap()).stdout).toBe("0 values are now encrypted with the first key\n");
  for (const command of [["rewrap"], ["key", "rotate", "--encryption"]]) {
    const file = join(iam.folder, "service.yaml");
    const { status, stdout } = await runIam([...command, file, "--format", "json"]);
    expect([status, JSON.parse(stdout)]).toEqual([0, { rewrapped: 0, unopened: 0 }]);
  }
  const operator = { type: "operator", id: userInfo().username, organization: "acme" };
  const named = (await rewrapEvents()).map(({ data }) => data.principal);
  expect(named).toEqual(named.map(() => expect.objectContaining(operator)));
  expect(named).toHaveLength(4);
});

test("what cannot be opened is reported, and left as it is", async () => {
  await logInAt(iam, "alice", PASSWORD);
  const known = readFileSync(keyFile(), "utf8");
  writeFileSync(keyFile(), line());
  const { status, stdout, stderr } = await rewrap();
  writeFileSync(keyFile(), known);
  expect([status, stdout]).toEqual([1, ""]);
  expect(stderr).toMatch(/^svc-iam: \d+ values could not be opened and are as they were/);
  expect(stderr).not.toContain(known.trim());
  expect((await rewrap()).status).toBe(0);
});

test.each([
  ["a configuration that does not exist", "/nowhere/service.yaml", /nowhere/],
  ["a key file that is not valid", undefined, /line \d is not an encryption key/],
])("%s is a problem that a person must fix", async (_, file, said) => {
  const known = readFileSync(keyFile(), "utf8");
  appendFileSync(keyFile(), "\nnot a key\n");
  const { status, stdout, stderr } = await rewrap(file);
  writeFileSync(keyFile(), known);
  expect([status, stdout]).toEqual([2, ""]);
  expect(stderr).toMatch(said);
  expect(stderr).not.toContain("    at ");
});

test("the service does not start with a key file that is not valid, and exits as for a wrong configuration", async () => {
  const known = readFileSync(keyFile(), "utf8");
  await iam.stop();
  writeFileSync(keyFile(), "not a key\n");
  const file = join(iam.folder, "service.yaml");
  const { status, stderr } = runProgram(process.execPath, [MAIN, "serve", file]);
  writeFileSync(keyFile(), known);
  await restart();
  expect(status).toBe(2);
  expect(stderr).toMatch(
    /^svc-iam: \S+:\d+:3 iam\.encryption_key_file: .* is not an encryption key/,
  );
});

test("each column with sealed values is re-wrapped", async () => {
  await logInAt(iam, "alice", PASSWORD);
  await logInBrowser(iam, new Browser(iam.origin));
  const keys = EncryptionKeys.parse(readFileSync(join(iam.folder, "encryption-key"), "utf8"));
  const { kysely: users } = databaseOf(iam);
  const alice = await users.selectFrom("iam_users").selectAll().executeTakeFirstOrThrow();
  const store = new FactorStore(users, new SecretBox(keys));
  await store.addApp(newTotpSecret(), 0, {
    owner: { accountId: alice.id, passwordVersion: 0 },
    firstCodes: [],
  });
  const kysely = iam.options.database as unknown as { kysely: Kysely<any> };
  const tables = await kysely.kysely.introspection.getTables();
  const found = new Set<string>();
  for (const { name } of tables.filter((table) => table.name.startsWith("iam_"))) {
    for (const row of await kysely.kysely.selectFrom(name).selectAll().execute()) {
      for (const [column, value] of Object.entries(row)) {
        if (typeof value === "string" && /^v1\.[\w-]{10}\./.test(value)) {
          found.add(`${name}.${column}`);
        }
      }
    }
  }
  const known = SEALED_COLUMNS.map(({ table, column }) => `${table}.${column}`);
  expect([...found].sort()).toEqual([...known].sort());
});
