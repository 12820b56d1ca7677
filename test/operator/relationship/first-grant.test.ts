/** The first relationship of an empty store, and the tables of a database, with operator commands. */
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { createEmbeddedEngine, openSqliteStore, parseModel } from "../../../src/authz/index.ts";
import { onPostgres } from "../../authz/on-postgres.ts";
import { engineOf } from "../../authz/spicedb/fixture.ts";
import { runProgram } from "../../support/programs.ts";
import { spicedbIsAbsent, startSpicedb } from "../../support/spicedb.ts";
import { runSvcAccess } from "../../support/svc-access.ts";

const MODEL = `definition user {}
definition team {
  relation member: user | team#member
}
definition item {
  relation owner: user
  relation viewer: user | team#member
  permission write = owner
}`;

const folder = mkdtempSync(join(tmpdir(), "svc-access-first-grant-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const model = join(folder, "model.zed");
writeFileSync(model, MODEL);

let files = 0;
/** The configuration of a service in its own folder. */
function configuration(database: object | undefined, authz: object = {}): string {
  const file = join(folder, `service-${files++}.yaml`);
  const document = {
    environment: "production",
    service: "items",
    server: { http: { address: "127.0.0.1:0" } },
    security: { authz: { model, ...authz } },
    database,
  };
  writeFileSync(file, stringify(document));
  return file;
}

const touch = (...args: string[]) => runSvcAccess(["relationship", "touch", ...args]);
const OWNER = "item:first#owner@user:alice@example.com";

describe("the first owner, in SQLite", () => {
  const file = join(folder, "items.db");
  const store = join(folder, "items.relationships.db");
  const config = configuration({ driver: "sqlite", file });

  test("is written into a store that does not exist yet, and then has access", async () => {
    const { status, stdout, stderr } = touch("--config", config, OWNER);
    expect({ status, stdout, stderr }).toEqual({
      status: 0,
      stdout: `${OWNER}\n`,
      stderr: "svc-access: 1 relationship written\n",
    });
    expect(statSync(store).mode & 0o777).toBe(0o600);
    const engine = await createEmbeddedEngine({
      model: parseModel(MODEL, "model.zed").model,
      store: await openSqliteStore({ file: store }),
    });
    const { allowed } = await engine.check({
      resource: { type: "item", id: "first" },
      permission: "write",
      subject: { type: "user", id: "alice@example.com" },
    });
    await engine.close();
    expect(allowed).toBe(true);
  });

  test("can be written again, together with usersets", () => {
    const more = ["team:a#member@user:bob", "item:first#viewer@team:a#member"];
    const { status, stdout } = touch("--store", store, "--model", model, OWNER, ...more);
    expect({ status, lines: stdout.trim().split("\n") }).toEqual({
      status: 0,
      lines: [OWNER, ...more],
    });
  });

  test("is rejected while the service locks the store", async () => {
    const held = await openSqliteStore({ file: store });
    // The lock belongs to another process.
    const { status, stderr } = runProgram("svc-access", [
      "relationship",
      "touch",
      "--config",
      config,
      OWNER,
    ]);
    await held.close();
    expect({ status, stderr }).toEqual({
      status: 2,
      stderr: expect.stringContaining(`is held by process ${process.pid} `),
    });
  });

  test.each<[what: string, args: string[], message: RegExp]>([
    ["a relation that the type lacks", ["item:first#boss@user:a"], /has no relation .*boss/],
    ["a type that the model lacks", ["thing:x#owner@user:a"], /thing/],
    ["a subject that the relation does not accept", ["item:first#owner@team:a#member"], /owner/],
    ["a permission", ["item:first#write@user:a"], /write/],
    ["a cycle", ["team:x#member@team:y#member", "team:y#member@team:x#member"], /cycle/],
    ["no relation", ["item:first@user:a"], /is not a valid relationship: write type:id#relation@/],
    ["no subject", ["item:first#owner"], /is not a valid relationship/],
    ["a blank in an id", ["item:a b#owner@user:a"], /is not a valid relationship/],
    ["a line break", ["item:a#owner@user:a\n::stop-commands::x"], /is not a valid relationship/],
    ["one of two that is wrong", [OWNER, "item:second#boss@user:a"], /boss/],
  ])(
    "relationships that the model does not allow are rejected, and nothing is written: %s",
    (_, args, message) => {
      const list = () => runSvcAccess(["relationship", "list", "--store", store]).stdout;
      const before = list();
      const { status, stdout, stderr } = touch("--config", config, ...args);
      expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
      expect(stderr).toMatch(message);
      expect(stderr.split("\n").every((line) => /^(svc-access: .*)?$/.test(line))).toBe(true);
      expect(list()).toBe(before);
    },
  );

  test.each<[what: string, args: string[], message: RegExp]>([
    ["no relationship", ["--config", config], /missing required argument/],
    ["no engine", [OWNER], /set --config <file>, or --store/],
    [
      "a store without its model",
      ["--store", store, OWNER],
      /relationships must conform to the model/,
    ],
    ["a model beside a configuration", ["--config", config, "--model", model, OWNER], /--model/],
    ["both", ["--config", config, "--store", store, OWNER], /cannot be used with/],
    ["no such store", ["--store", join(folder, "no.db"), "--model", model, OWNER], /not exist/],
    ["no database", ["--config", configuration(undefined), OWNER], /database is missing/],
    [
      "no such model",
      ["--store", store, "--model", join(folder, "no.zed"), OWNER],
      /does not exist; create it, or name another file/,
    ],
  ])("wrong usage exits with 2 and makes no file: %s", (_, args, message) => {
    const { status, stdout, stderr } = touch(...args);
    expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
    expect(stderr).toMatch(message);
    expect(stderr).not.toContain("internal error");
    expect(existsSync(join(folder, "no.db"))).toBe(false);
  });
});

await onPostgres("the tables and the first owner, in PostgreSQL", ({ url, query }) => {
  const name = "first_grant";
  beforeAll(async () => void (await query(`create database ${name}`)));
  afterAll(async () => void (await query(`drop database ${name}`)));

  test("are created by two commands, so that a service creates nothing", async () => {
    const at = Object.assign(new URL(url), { pathname: `/${name}` }).href;
    // Statements that create tables are slow here, but commands do not report that.
    const config = configuration({
      driver: "postgres",
      url: at,
      slow_query_threshold_ns: 1_000_000,
    });
    const migrate = () => runSvcAccess(["database", "migrate", "--config", config]);
    for (const report of ["created the tables", "the tables already have this version"]) {
      expect(migrate()).toEqual({ status: 0, stdout: "", stderr: `svc-access: ${report}\n` });
    }
    expect(touch("--config", config, OWNER).status).toBe(0);
    const list = runSvcAccess(["relationship", "list", "--config", config]);
    expect(list.stdout).toBe(`${OWNER}\n`);
  });

  test("an error names a missing database", () => {
    const at = Object.assign(new URL(url), { pathname: "/nowhere" }).href;
    const config = configuration({ driver: "postgres", url: at });
    const { status, stderr } = runSvcAccess(["database", "migrate", "--config", config]);
    expect(status).toBe(2);
    expect(stderr).toMatch(/^svc-access: .*nowhere at .* does not exist: create the database\n$/);
  });
});

describe.skipIf(spicedbIsAbsent())("the first owner, in SpiceDB", () => {
  test("is written by the same command, which needs no other client", async () => {
    const server = await startSpicedb();
    const { endpoint, token } = server;
    try {
      const writer = await engineOf(server, MODEL);
      await writer.writeSchema(MODEL);
      await writer.close();
      const spicedb = { endpoint, token, insecure: true };
      const config = configuration(undefined, { provider: "spicedb", spicedb });
      // SpiceDB's ids allow fewer characters, which the engine encodes and decodes.
      expect(touch("--config", config, OWNER)).toMatchObject({ status: 0, stdout: `${OWNER}\n` });
      const engine = await engineOf(server, MODEL);
      const { allowed } = await engine.check({
        resource: { type: "item", id: "first" },
        permission: "write",
        subject: { type: "user", id: "alice@example.com" },
      });
      await engine.close();
      expect(allowed).toBe(true);
      expect(touch("--config", config, "item:first#boss@user:a")).toMatchObject({ status: 2 });
    } finally {
      await server.stop();
    }
  });
});

test("without a database, nothing is migrated, which is reported", () => {
  const config = configuration(undefined, { model: undefined });
  const { status, stderr } = runSvcAccess(["database", "migrate", "--config", config]);
  expect({ status, stderr }).toEqual({
    status: 2,
    stderr: expect.stringContaining("database is missing: name the database"),
  });
});
