import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  createEmbeddedEngine,
  openPostgresStore,
  openSqliteStore,
  parseModel,
  type Relationship,
  type RelationshipStore,
} from "../../../src/authz/index.ts";
import { formatRelationship } from "../../../src/model/relationship-text.ts";
import { openPostgres } from "../../support/postgres.ts";
import { runSvcAccess } from "../../support/svc-access.ts";

const OLD = `definition user {}
definition group {
  relation member: user | group#member
}
definition doc {
  relation viewer: user | group#member
  relation owner: user
  permission view = viewer + owner
}`;
/** A model without owners and nested groups. */
const NEW = `definition user {}
definition group {
  relation member: user
}
definition doc {
  relation viewer: user | group#member
  permission view = viewer
}`;

const RELATIONSHIPS = [
  "doc:a#owner@user:alice",
  "doc:a#viewer@group:g#member",
  "doc:a#viewer@user:bob",
  "doc:b#owner@user:bob",
  "doc:b#viewer@user:eve\u202e",
  "group:g#member@group:h#member",
  "group:h#member@user:alice",
];
const MISFITS = ["doc:a#owner@user:alice", "doc:b#owner@user:bob", "group:g#member@group:h#member"];

const folder = mkdtempSync(join(tmpdir(), "svc-access-relationship-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const model = join(folder, "new.zed");
writeFileSync(model, NEW);

function relationshipOf(text: string): Relationship {
  const [, type = "", id = "", relation = "", subjectType = "", subjectId = "", member] =
    /^(\w+):([^#]+)#(\w+)@(\w+):([^#]+)(?:#(\w+))?$/.exec(text) ?? [];
  const subject = { type: subjectType, id: subjectId };
  return {
    resource: { type, id },
    relation,
    subject: member === undefined ? subject : { ...subject, relation: member },
  };
}

async function fill(store: RelationshipStore, texts: readonly string[] = RELATIONSHIPS) {
  const { model } = parseModel(OLD, "old.zed");
  const engine = await createEmbeddedEngine({ model, store });
  const updates = texts.map((text) => {
    return { operation: "TOUCH" as const, relationship: relationshipOf(text) };
  });
  for (let at = 0; at < updates.length; at += 1000) {
    await engine.writeRelationships({ updates: updates.slice(at, at + 1000) });
  }
  await engine.close();
}

const command = (args: readonly string[], env: NodeJS.ProcessEnv = {}) =>
  runSvcAccess(["relationship", ...args], { env });
const lines = (text: string) => text.split("\n").filter((line) => line !== "");

/** Tests for any store. */
function contract(fresh: () => { store: string[]; open: () => Promise<RelationshipStore> }): void {
  let store: string[];
  let open: () => Promise<RelationshipStore>;
  beforeAll(async () => {
    ({ store, open } = fresh());
    await fill(await open());
  });

  test("a start with a model that does not allow stored relationships names them, and the commands that list and delete them [MODEL-5]", async () => {
    const held = await open();
    const { model } = parseModel(NEW, "new.zed");
    const error: Error = await createEmbeddedEngine({
      model,
      modelFile: "new models/new.zed",
      store: held,
    }).catch((error) => error);
    await held.close();
    for (const misfit of MISFITS) expect(error.message).toContain(`${misfit}: `);
    expect(error.message).toContain("does not allow 3 of the stored relationships");
    const line = /^ {2}svc-access relationship list (.+) --misfit$/m;
    const [, flags] = line.exec(error.message) ?? [];
    // A URL of PostgreSQL would lack the password.
    expect(flags).toBe(
      held.address?.startsWith("postgres")
        ? "--config service.yaml"
        : `--store ${held.address} --model 'new models/new.zed'`,
    );
    expect(Math.max(...error.message.split("\n").map(({ length }) => length))).toBeLessThan(250);
  });

  test("are listed by type, object, relation and subject", () => {
    const cases: [string[], string[]][] = [
      [[], RELATIONSHIPS.map((text) => text.replace("\u202e", "\\u202e"))],
      [["--resource", "group"], RELATIONSHIPS.slice(5)],
      [["--resource", "doc:a"], RELATIONSHIPS.slice(0, 3)],
      [
        ["--relation", "owner"],
        ["doc:a#owner@user:alice", "doc:b#owner@user:bob"],
      ],
      [
        ["--subject", "user:alice"],
        ["doc:a#owner@user:alice", "group:h#member@user:alice"],
      ],
      [["--subject", "group:g#member"], ["doc:a#viewer@group:g#member"]],
      [["--subject", "group:g"], []],
      [
        ["--subject", "user:alice#..."],
        ["doc:a#owner@user:alice", "group:h#member@user:alice"],
      ],
      [
        ["--resource", "doc", "--relation", "owner", "--subject", "user:bob"],
        ["doc:b#owner@user:bob"],
      ],
      [["--limit", "2"], RELATIONSHIPS.slice(0, 2)],
    ];
    for (const [flags, expected] of cases) {
      const { status, stdout, stderr } = command(["list", ...store, ...flags]);
      expect({ status, stderr }).toEqual({
        status: 0,
        stderr: `svc-access: ${expected.length} relationship${expected.length === 1 ? "" : "s"}\n`,
      });
      expect(lines(stdout).sort()).toEqual([...expected].sort());
    }
  });

  test("are listed as JSON and as JSON lines", () => {
    const { stdout } = command(["list", ...store, "--format", "ndjson"]);
    const found = lines(stdout).map((line) => formatRelationship(JSON.parse(line)));
    expect(found.sort()).toEqual([...RELATIONSHIPS].sort());
    expect(JSON.parse(command(["list", ...store, "--format", "json"]).stdout)).toEqual(
      lines(stdout).map((line) => JSON.parse(line)),
    );
    expect(
      JSON.parse(command(["list", ...store, "--format", "json", "--resource", "x"]).stdout),
    ).toEqual([]);
  });

  test("that a model does not allow are listed with the reason, and the exit code is 1", () => {
    const { status, stdout } = command(["list", ...store, "--model", model, "--misfit"]);
    expect(status).toBe(1);
    expect(lines(stdout).map((line) => line.split(": ")[0])).toEqual(MISFITS);
    expect(stdout).toMatch(/owner@user:alice: .*"owner"/);
  });

  test("are all deleted with --yes only, and then the model allows the rest", async () => {
    const flags = ["delete", ...store, "--model", model, "--misfit"];
    const before = await open();
    const { sequence } = before;
    await before.close();
    for (const [more, status] of [
      [["--dry-run"], 0],
      [[], 1],
    ] as const) {
      const shown = command([...flags, ...more]);
      expect(shown).toMatchObject({
        status,
        stderr: expect.stringContaining("3 relationships would be deleted"),
      });
      expect(lines(shown.stdout)).toEqual(MISFITS);
    }
    expect(lines(command(["list", ...store]).stdout)).toHaveLength(7);
    expect(command([...flags, "--yes"])).toMatchObject({
      status: 0,
      stderr: "svc-access: 3 relationships deleted\n",
    });
    const after = await open();
    expect(after.sequence).toBe(sequence + 1);
    // Watchers are notified of it.
    const [change] = (await after.changesAfter(sequence, 10)) ?? [];
    expect(change?.updates.map(({ operation }) => operation)).toEqual([
      "DELETE",
      "DELETE",
      "DELETE",
    ]);
    const engine = await createEmbeddedEngine({
      model: parseModel(NEW, "new.zed").model,
      store: after,
    });
    await engine.close();
    expect(command([...flags, "--yes"])).toMatchObject({ status: 0, stdout: "" });
  });

  test("of a running service are neither listed nor deleted: the error names the process with the lock", async () => {
    const held = await open();
    for (const args of [["list"], ["delete", "--all", "--yes"]]) {
      const { status, stdout, stderr } = command([...args, ...store]);
      expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
      expect(stderr).toContain(`is held by process ${process.pid}`);
    }
    await held.close();
  });
}

describe("relationships in SQLite", () => {
  const file = join(folder, "notes.relationships.db");
  contract(() => ({ store: ["--store", file], open: () => openSqliteStore({ file }) }));

  test("a configuration names the model, unless another is given", async () => {
    const own = join(folder, "own");
    mkdirSync(own);
    await fill(await openSqliteStore({ file: join(own, "notes.relationships.db") }));
    writeFileSync(join(own, "new.zed"), NEW);
    writeFileSync(join(own, "old.zed"), OLD);
    const config = join(own, "service.yaml");
    const write = (model: string) =>
      writeFileSync(
        config,
        `service: notes
environment: development
server: {http: {address: "127.0.0.1:18001"}}
security: {authz: {${model}}}
database: {file: notes.db}
`,
      );
    write("model: new.zed");
    const misfits = (...args: string[]) =>
      command(["list", "--config", config, "--misfit", ...args]);
    expect(lines(misfits().stdout).map((line) => line.split(": ")[0])).toEqual(MISFITS);
    expect(misfits("--model", join(own, "old.zed"))).toMatchObject({ status: 0, stdout: "" });
    write("");
    expect(misfits().stderr).toContain("names no model: set --model");
    write("model: new.zed");
    const removed = command(["delete", "--config", config, "--misfit", "--yes"]);
    expect(removed.stderr).toContain("3 relationships deleted");
  });

  test.each([
    ["spicedb", "spicedb: {endpoint: 'localhost:50051', token: t0k3n-of-spicedb}", "use zed"],
    ["iam", "iam: {endpoint: 'localhost:19080', token: a-token-of-this-service}", "at IAM"],
  ])("with the engine %s, the database of the service is not opened", (provider, keys, fix) => {
    const own = mkdtempSync(join(folder, "other-engine-"));
    const config = join(own, "service.yaml");
    writeFileSync(join(own, "new.zed"), NEW);
    writeFileSync(
      config,
      `service: notes
environment: development
server: {http: {address: "127.0.0.1:18001"}}
security: {authz: {provider: ${provider}, model: new.zed, ${keys}}}
database: {file: notes.db}
`,
    );
    for (const args of [["list"], ["delete", "--all", "--yes"]]) {
      const { status, stdout, stderr } = command([...args, "--config", config]);
      expect([status, stdout]).toEqual([2, ""]);
      expect(stderr).toContain(`security.authz.provider: ${provider}`);
      expect(stderr).toContain(fix);
    }
    expect(existsSync(join(own, "notes.relationships.db"))).toBe(false);
  });

  test("many are deleted in one transaction of many changes", async () => {
    const many = join(folder, "many.db");
    const texts = Array.from({ length: 2500 }, (_, index) => `doc:d${index}#owner@user:x`);
    await fill(await openSqliteStore({ file: many }), texts);
    const flags = ["delete", "--store", many, "--yes"];
    expect(command([...flags, "--relation", "owner", "--limit", "100"]).status).toBe(0);
    expect(command([...flags, "--all"]).stderr).toContain("2400 relationships deleted");
    const store = await openSqliteStore({ file: many });
    const changes = await store.changesAfter(3, 100);
    expect(changes?.map(({ updates }) => updates.length)).toEqual([100, 1000, 1000, 400]);
    await store.close();
  });

  test.each<[what: string, args: string[], message: RegExp]>([
    ["no store", ["list"], /--store <file or URL> or --config/],
    ["a file that is not there", ["list", "--store", join(folder, "no.db")], /does not exist/],
    ["a folder", ["list", "--store", folder], /is not a file/],
    [
      "a model that is not there",
      ["list", "--store", file, "--misfit", "--model", "no.zed"],
      /no\.zed does not exist; create it/,
    ],
    [
      "a configuration that is not there",
      ["list", "--config", join(folder, "no.yaml"), "--misfit"],
      /no\.yaml does not exist/,
    ],
    ["--misfit without a model", ["list", "--store", file, "--misfit"], /--misfit needs --model/],
    ["a model without --misfit", ["list", "--store", file, "--model", model], /need each other/],
    ["a malformed resource", ["list", "--store", file, "--resource", "doc:a#x"], /use --relation/],
    [
      "a malformed subject",
      ["list", "--store", file, "--subject", "a b"],
      /--subject "a b" is not valid/,
    ],
    ["a limit of 0", ["list", "--store", file, "--limit", "0"], /whole number of at least 1/],
    ["an unknown format", ["list", "--store", file, "--format", "xml"], /ndjson/],
    ["an unknown flag", ["list", "--sore", file], /unknown option "--sore"/],
    ["another database", ["list", "--store", model], /not? .*SQLite database/],
    ["nothing that says which", ["delete", "--store", file, "--yes"], /--all/],
    [
      "all and a selection",
      ["delete", "--store", file, "--all", "--relation", "owner"],
      /cannot be combined/,
    ],
    [
      "more than one transaction takes",
      ["delete", "--store", file, "--all", "--limit", "100001"],
      /at most 100000/,
    ],
    [
      "a URL of another kind",
      ["list", "--store", "mysql://root:s3cret@db/x"],
      /begins with postgres/,
    ],
    [
      "a server that is away",
      ["list", "--store", "postgres://root:s3cret@127.0.0.1:1/x"],
      /cannot be reached/,
    ],
    [
      "a configuration that is not there",
      ["list", "--config", join(folder, "no.yaml")],
      /no\.yaml/,
    ],
  ])("bad usage ends in 2, says how to fix it and makes no file: %s", (_, args, message) => {
    const { status, stdout, stderr } = command(args);
    expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
    expect(stderr).toMatch(message);
    expect(stderr).not.toContain("s3cret");
    expect(stderr).not.toContain("internal error");
    expect(existsSync(join(folder, "no.db"))).toBe(false);
  });

  test("help shows examples", () => {
    for (const args of [
      ["--help"],
      ["list", "--help"],
      ["touch", "--help"],
      ["delete", "--help"],
    ]) {
      const { status, stdout } = command(args);
      expect(status).toBe(0);
      expect(stdout).toContain("Examples:");
    }
    expect(runSvcAccess(["--help"]).stdout).toContain("relationship list|touch|delete");
  });
});

const server = await openPostgres();
afterAll(() => server?.remove());
describe.skipIf(server === undefined)("relationships in PostgreSQL", () => {
  const url = server?.url ?? "";
  const schema = `relationships ${randomUUID()}`;
  contract(() => ({
    store: ["--store", url, "--schema", schema],
    open: () => openPostgresStore({ url, schema }),
  }));

  test("a database without tables stays unchanged", async () => {
    const args = ["list", "--schema", `none ${randomUUID()}`];
    const { status, stderr } = command(args, { SVC_ACCESS_STORE: url });
    expect(status).toBe(2);
    expect(stderr).toMatch(/has no relationships in the schema none/);
    expect(command(args, { SVC_ACCESS_STORE: url }).stderr).toBe(stderr);
  });
});
