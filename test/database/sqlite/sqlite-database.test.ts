import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { sql } from "kysely";
import { afterAll, describe, expect, test } from "vitest";
import { openSqliteStore } from "../../../src/authz/store/sqlite/open-sqlite-store.ts";
import { migrate } from "../../../src/database/service/migrate.ts";
import { openDatabase } from "../../../src/database/service/open-database.ts";
import { relationshipsFile } from "../../../src/database/sqlite/sqlite-file.ts";
import { SILENT, settingsOf } from "../settings.ts";

const folder = mkdtempSync(join(tmpdir(), "svc-access-database-"));
let count = 0;
const freshFile = () => join(folder, `database-${++count}.db`);
const open = (file: string, logger = SILENT, slow = 200 * 1e6) =>
  openDatabase<Tables>(settingsOf({ file, slow_query_threshold_ns: slow }), { logger });
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Tables {
  readonly notes: { readonly text: string };
}

const NOTES = {
  component: "notes",
  steps: [
    (connection: import("kysely").Kysely<any>) =>
      connection.schema.createTable("notes").addColumn("text", "text").execute(),
  ],
};

describe("a file that cannot be a database is refused with its fix", () => {
  const written = (content: string) => {
    const file = freshFile();
    writeFileSync(file, content);
    return file;
  };
  const foreign = () => {
    const file = freshFile();
    const database = new DatabaseSync(file);
    database.exec("create table others (text)");
    database.close();
    return file;
  };
  test.each([
    ["a missing folder", () => join(folder, "missing/a.db"), "does not exist: create it"],
    ["a text", () => written("This is a text. ".repeat(100)), "is not an SQLite database"],
    ["another program's", foreign, "is a database of another program"],
    [
      "a folder",
      () => (mkdirSync(join(folder, "dir.db")), join(folder, "dir.db")),
      "is a folder: name a file in it",
    ],
  ])("%s", async (_, file, message) => {
    await expect(open(file())).rejects.toThrow(message);
  });

  test("the store of relationships, and the reverse", async () => {
    const file = freshFile();
    const store = await openSqliteStore({ file });
    await expect(open(file)).rejects.toThrow("is a database of another program");
    await store.close();
    const own = freshFile();
    const database = await open(own);
    await migrate(database, NOTES);
    await expect(openSqliteStore({ file: own })).rejects.toThrow("database of another program");
    const beside = await openSqliteStore({ file: relationshipsFile(own) });
    await beside.close();
    await database.close();
  });
});

test.each([
  ["iam.db", "iam.relationships.db"],
  ["/var/lib/iam.sqlite", "/var/lib/iam.relationships.sqlite"],
  ["data/iam", "data/iam.relationships.db"],
])("the relationships of %s are in %s", (file, expected) => {
  expect(relationshipsFile(file)).toBe(expected);
});

test("is durable, and read by its owner only [STORE-1]", async () => {
  const file = freshFile();
  const database = await open(file);
  await migrate(database, NOTES);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const pragma = async (name: string) =>
    Object.values((await sql.raw<object>(`pragma ${name}`).execute(database.kysely)).rows[0] ?? {});
  expect(await pragma("journal_mode")).toEqual(["wal"]);
  expect(await pragma("synchronous")).toEqual([2]);
  expect(await database.ready()).toEqual({ ready: true });
  expect(database.poolStats()).toMatchObject({ open: 1, max: 1 });
  await database.close();
  expect(await database.ready()).toMatchObject({ ready: false });
});

test("migrates once, and refuses tables of a newer program", async () => {
  const file = freshFile();
  const database = await open(file);
  await migrate(database, NOTES);
  await database.kysely.insertInto("notes").values({ text: "kept" }).execute();
  await migrate(database, NOTES);
  expect(await database.kysely.selectFrom("notes").selectAll().execute()).toHaveLength(1);
  await expect(migrate(database, { component: "notes", steps: [] })).rejects.toThrow(
    "has version 1 of the notes tables and this program knows 0: use the newer program",
  );
  await database.close();
});

test("a failed migration changes nothing", async () => {
  const database = await open(freshFile());
  const failing = {
    component: "notes",
    steps: [...NOTES.steps, () => Promise.reject(new Error())],
  };
  await expect(migrate(database, failing)).rejects.toThrow();
  await migrate(database, NOTES);
  expect(await database.kysely.selectFrom("notes").selectAll().execute()).toEqual([]);
  await database.close();
});

test("a transaction that fills the disk reports that, changes nothing, and the next one succeeds [STORE-3]", async () => {
  const database = await open(freshFile());
  await migrate(database, NOTES);
  const limit = (pages: number) =>
    sql.raw(`pragma max_page_count = ${pages}`).execute(database.kysely);
  const add = (text: string) =>
    database.kysely.transaction().execute(async (transaction) => {
      await transaction.insertInto("notes").values({ text: "first" }).execute();
      await transaction.insertInto("notes").values({ text }).execute();
    });
  await limit(1);
  const long = "x".repeat(1e6);
  await expect(add(long)).rejects.toMatchObject({
    name: "DatabaseError",
    code: "UNAVAILABLE",
    message: expect.stringContaining("is full: free disk space"),
  });
  expect(await database.kysely.selectFrom("notes").selectAll().execute()).toEqual([]);
  await limit(1e6);
  await add(long);
  expect(await database.kysely.selectFrom("notes").selectAll().execute()).toHaveLength(2);
  await database.close();
});

test("slow statements are logged without their parameters [STORE-2]", async () => {
  const logged: [object, string][] = [];
  const logger = {
    ...SILENT,
    warn: (fields: object, text: string) => void logged.push([fields, text]),
  };
  const database = await open(freshFile(), logger, 0);
  await migrate(database, NOTES);
  logged.length = 0;
  await database.kysely.insertInto("notes").values({ text: "t0ps3cret" }).execute();
  expect(logged).toEqual([
    [
      {
        sql: 'insert into "notes" ("text") values (?)',
        duration_ms: expect.any(Number),
        failed: false,
      },
      "slow query",
    ],
  ]);
  await database.close();
});

test("two processes that start at once migrate one after the other", async () => {
  const file = freshFile();
  const script = `
    import { openDatabase } from "${new URL("../../../src/database/service/open-database.ts", import.meta.url)}";
    import { migrate } from "${new URL("../../../src/database/service/migrate.ts", import.meta.url)}";
    const { SILENT, settingsOf } = await import("${new URL("../settings.ts", import.meta.url)}");
    const database = await openDatabase(settingsOf({ file: ${JSON.stringify(file)} }), { logger: SILENT });
    await migrate(database, { component: "notes", steps: [(c) => c.schema.createTable("notes").addColumn("text", "text").execute()] });
    await database.close();`;
  const run = `for i in 1 2 3; do "$0" --input-type=module -e "$1" & pids="$pids $!"; done; for p in $pids; do wait $p || exit 1; done`;
  const outcome = spawnSync("sh", ["-c", run, process.execPath, script]);
  expect(outcome.stderr.toString()).toBe("");
  expect(outcome.status).toBe(0);
});

describe("a file that is removed while open accepts no writes", () => {
  test.each<[string, (file: string) => void]>([
    ["removed", (file) => rmSync(file)],
    [
      "replaced",
      (file) => {
        rmSync(file);
        writeFileSync(file, "");
      },
    ],
  ])("%s", async (_, remove) => {
    const file = freshFile();
    const database = await open(file);
    expect(await database.ready()).toEqual({ ready: true });
    remove(file);
    expect(await database.ready()).toMatchObject({
      ready: false,
      reason: expect.stringContaining("was removed or replaced"),
    });
    await database.close();
  });
});
