/** `svc-iam migrate` and `svc-iam serve` with the roles of docs/database.md. */
import { randomBytes } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { openPostgres, query } from "../../../../test/support/postgres.ts";
import { runProgram } from "../../../../test/support/programs.ts";
import { spicedbIsAbsent, startSpicedb } from "../../../../test/support/spicedb.ts";
import { MAIN, runIam } from "../support/run-program.ts";

const MODEL = join(import.meta.dirname, "../../../../model/iam.zed");
const EMBEDDED = { provider: "embedded", model: MODEL };
const CLIENT = "4b7d1b0e-6d0a-4bb1-8a5a-0d8c1ef1a0e1";

const folder = mkdtempSync(join(tmpdir(), "svc-iam-migrate-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const keys = join(folder, "encryption-key");
const file = join(folder, "service.yaml");

/** Writes the configuration, and runs a command of svc-iam with it. */
async function run(
  command: "migrate" | "serve",
  database: object,
  authz: object = EMBEDDED,
  ...flags: readonly string[]
) {
  return runWith({ address: "127.0.0.1:0" }, command, database, authz, ...flags);
}

/** The same, with the settings of the HTTP port. */
async function runWith(
  http: object,
  command: "migrate" | "serve",
  database: object,
  authz: object = EMBEDDED,
  ...flags: readonly string[]
) {
  const settings = {
    environment: "test",
    service: "iam",
    server: { http, grpc: { address: "127.0.0.1:0" } },
    security: {
      authn: {
        mode: "hybrid",
        provider: "embedded",
        oidc: { issuer: "http://localhost:18080/v1/iam/oidc", audience: [CLIENT] },
        gateway: { trusted_peers: ["127.0.0.1"] },
      },
      authz,
    },
    database,
    iam: {
      organization: "acme",
      public_url: "http://localhost:18080",
      encryption_key_file: keys,
      login: { client_id: CLIENT, redirect_uris: ["https://console.example.com/callback"] },
    },
  };
  // JSON is YAML.
  writeFileSync(file, JSON.stringify(settings));
  // A server listens to the signals of its process.
  if (command === "serve") return runProgram(process.execPath, [MAIN, command, file]);
  return runIam([command, file, ...flags]);
}

describe("the tables of PostgreSQL", async () => {
  const server = await openPostgres();
  afterAll(() => server?.remove());
  test.skipIf(server === undefined)(
    "are created by their owner, and the role of the service may only use them",
    async () => {
      const name = `iam_${randomBytes(4).toString("hex")}`;
      const administrator = server?.url as string;
      const at = (user: string) =>
        Object.assign(new URL(administrator), {
          username: user,
          password: "secret",
          pathname: `/${name}`,
        }).href;
      const owner = `${name}_owner`;
      await query(administrator, `create role ${owner} login password 'secret'`);
      await query(administrator, `create role ${name} login password 'secret'`);
      await query(administrator, `create database ${name} owner ${owner}`);
      await query(at(owner), "create schema svc_access");
      await query(at(owner), `grant usage on schema svc_access to ${name}`);
      await query(
        at(owner),
        `alter default privileges in schema svc_access grant select, insert, update, delete on tables to ${name}`,
      );
      const asService = { driver: "postgres", url: at(name) };
      writeFileSync(keys, randomBytes(32).toString("base64"));
      onTestFinished(() => rmSync(keys, { force: true }));
      const early = await run("serve", asService);
      expect(early.status).toBe(2);
      expect(early.stderr).toMatch(
        /has no iam tables.*: run svc-iam migrate as their owner first$/m,
      );
      const byOther = await run("migrate", asService);
      expect([byOther.status, byOther.stdout]).toEqual([2, ""]);
      expect(byOther.stderr).toMatch(/^svc-iam: .*: run svc-iam migrate as their owner first$/m);

      const migrated = await run("migrate", { driver: "postgres", url: at(owner) });
      expect(migrated).toEqual({ status: 0, stdout: "created the tables\n", stderr: "" });
      const again = { status: 0, stdout: "the tables already have this version\n", stderr: "" };
      expect(await run("migrate", asService)).toEqual(again);
      // The start comes as far as the port, an address of no machine: no table and no right is missing.
      const { stderr } = await runWith({ address: "192.0.2.1:18080" }, "serve", asService);
      expect(stderr).toMatch(/^svc-iam: the server does not start: .*192\.0\.2\.1:18080/m);
    },
  );
});

describe.skipIf(spicedbIsAbsent())("the schema of SpiceDB", () => {
  test("is written where there is none, and no other schema is replaced", async () => {
    const spicedb = await startSpicedb();
    onTestFinished(() => spicedb.stop());
    const { endpoint, token } = spicedb;
    const database = { driver: "sqlite", file: join(folder, "spicedb.db") };
    const authz = (model: string) => {
      return { provider: "spicedb", model, spicedb: { endpoint, token, insecure: true } };
    };
    const plan = (model: string) => run("migrate", database, authz(model), "--dry-run");
    const planned = await plan(MODEL);
    expect([planned.status, planned.stderr]).toEqual([1, ""]);
    expect(planned.stdout).toMatch(
      /^iam: create, version \d+\nwould write the model to SpiceDB\n$/m,
    );
    // The dry run has written nothing: the migration still creates and writes all.
    const first = await run("migrate", database, authz(MODEL));
    expect(first).toEqual({
      status: 0,
      stdout: "created the tables\nwrote the model to SpiceDB\n",
      stderr: "",
    });
    const again = await run("migrate", database, authz(MODEL));
    expect([again.status, again.stdout]).toEqual([0, "the tables already have this version\n"]);
    expect(await plan(MODEL)).toEqual(again);

    const other = join(folder, "other.zed");
    const book = "definition book {\n  relation reader: user\n}\n";
    writeFileSync(other, `${readFileSync(MODEL, "utf8")}\n${book}`);
    const old = { driver: "sqlite", file: join(folder, "old.db") };
    const refused = await run("migrate", old, authz(other));
    expect([refused.status, refused.stdout]).toEqual([2, ""]);
    expect(refused.stderr).toMatch(
      /does not contain the service's model: .*book.*model merge.*zed schema write$/m,
    );
    // A model that does not fit leaves the tables as they are: replicas of the former version still start.
    expect(existsSync(old.file)).toBe(false);
    expect(await run("migrate", old, authz(other), "--dry-run")).toEqual(refused);
    const intact = await run("migrate", database, authz(MODEL));
    expect([intact.status, intact.stdout]).toEqual([0, "the tables already have this version\n"]);
    await spicedb.stop();
    for (const down of [await run("migrate", database, authz(MODEL)), await plan(MODEL)]) {
      expect([down.status, down.stderr]).toEqual([2, expect.stringMatching(/^svc-iam: .*SpiceDB/)]);
    }
  });
});

test.each([
  ["a key file that does not exist", undefined, /cannot be read \(ENOENT\): create it, or name/],
  [
    "a key that is too short",
    randomBytes(16).toString("base64"),
    /line 1 is not an encryption key/,
  ],
])("a start with %s ends with exit code 2", async (_, text, message) => {
  if (text !== undefined) writeFileSync(keys, text);
  const { status, stderr } = await run("serve", { driver: "sqlite", file: join(folder, "iam.db") });
  rmSync(keys, { force: true });
  expect(status).toBe(2);
  expect(stderr).toMatch(/^svc-iam: \S+:\d+:\d+ iam\.encryption_key_file: [^\n]+\n$/);
  expect(stderr).toMatch(message);
});
