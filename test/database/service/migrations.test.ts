/** The migrations of a service: named, ordered, and run once by one of many processes. */
import { describe, expect, test } from "vitest";
import { DatabaseError } from "../../../src/database/database-error.ts";
import {
  migrateServiceDatabase,
  openServiceDatabase,
  type ServiceDatabase,
  type ServiceMigration,
  sql,
} from "../../../src/database/service/index.ts";
import { migrate } from "../../../src/database/service/migrate.ts";
import { openDatabase } from "../../../src/database/service/open-database.ts";
import { migrationSetOf } from "../../../src/database/service/service-migration.ts";
import { AUDIT_MIGRATIONS } from "../../../src/runtime/audit/tables/audit-table.ts";
import { SILENT } from "../settings.ts";
import { onBoth } from "./targets.ts";

interface Tables {
  readonly notes: { readonly id: string; readonly size: number };
}

const create = (name: string, table: string): ServiceMigration => ({
  name,
  async up(database, { text, whole }) {
    await database.schema
      .createTable(table)
      .addColumn("id", text, (column) => column.primaryKey())
      .addColumn("size", whole)
      .execute();
  },
});
const NOTES = create("create_notes", "notes");
const TAGS = create("create_tags", "tags");
const LABELS = create("create_labels", "labels");

const versions = async (database: ServiceDatabase<Tables>) => {
  const { rows } = await sql<{ version: number; name: string }>`
    select version, name from component_migrations where component = 'notes' order by version`.execute(
    database.kysely,
  );
  return rows.map(({ version, name }) => `${version} ${name}`);
};

describe("a mistake of the program is a TypeError", () => {
  const up = async () => undefined;
  test.each([
    [
      "a component that is not a name",
      { component: "My Notes", migrations: [] },
      "is not a name: use",
    ],
    ["no component", { migrations: [] }, "the component undefined is not a name"],
    ["a component of the runtime", { component: "audit", migrations: [] }, "is one of svc-access"],
    ["no migrations", { component: "notes" }, "are not a list"],
    [
      "a name with spaces",
      { component: "notes", migrations: [{ name: "a b", up }] },
      "migration 1",
    ],
    ["no name", { component: "notes", migrations: [NOTES, { up }] }, "migration 2"],
    ["a name twice", { component: "notes", migrations: [NOTES, NOTES] }, "rename the new one"],
    ["no function", { component: "notes", migrations: [{ name: "a" }] }, "has no function up"],
  ])("%s", async (_, options, message) => {
    const opened = openServiceDatabase({}, options as never);
    await expect(opened).rejects.toThrow(TypeError);
    await expect(opened).rejects.toThrow(message);
  });
});

test("a configuration without a database is refused with its fix", async () => {
  const opened = openServiceDatabase({}, { component: "notes", migrations: [] });
  await expect(opened).rejects.toMatchObject({ code: "FAILED_PRECONDITION" });
  await expect(opened).rejects.toThrow("the configuration has no database: add one");
});

await onBoth("migrations", ({ kind, fresh }) => {
  const open = (
    config: Awaited<ReturnType<typeof fresh>>,
    migrations: readonly ServiceMigration[],
  ) => openServiceDatabase<Tables>(config, { component: "notes", migrations });

  test("run in their order, and once", async () => {
    const config = await fresh();
    await (await open(config, [NOTES])).close();
    const database = await open(config, [NOTES, TAGS, LABELS]);
    expect(await versions(database)).toEqual([
      "1 create_notes",
      "2 create_tags",
      "3 create_labels",
    ]);
    await database.close();
  });

  test("of processes that start at once, one runs them", async () => {
    const config = await fresh();
    let runs = 0;
    const counted = {
      ...NOTES,
      up: (...of: Parameters<ServiceMigration["up"]>) => (runs++, NOTES.up(...of)),
    };
    const opened = await Promise.all(Array.from({ length: 6 }, () => open(config, [counted])));
    expect(runs).toBe(1);
    for (const database of opened) await database.close();
  });

  test.each([
    [
      "a newer database",
      [NOTES],
      "has version 2 of the notes tables and this program knows 1: use",
    ],
    [
      "a renamed one",
      [NOTES, LABELS],
      'has run the notes migration "create_tags" as number 2, which is "create_labels" in',
    ],
    [
      "another order",
      [TAGS, NOTES],
      'has run the notes migration "create_notes" as number 1, which is "create_tags" in',
    ],
    [
      "one that was put between",
      [NOTES, LABELS, TAGS],
      "a migration that has run keeps its name and place",
    ],
    ["one that was removed", [TAGS], 'which is "create_tags" in this program'],
  ])("%s is refused", async (_, migrations, message) => {
    const config = await fresh();
    await (await open(config, [NOTES, TAGS])).close();
    const refused = open(config, migrations);
    await expect(refused).rejects.toMatchObject({ code: "FAILED_PRECONDITION" });
    await expect(refused).rejects.toThrow(message);
    // It changes nothing.
    const database = await open(config, [NOTES, TAGS]);
    expect(await versions(database)).toEqual(["1 create_notes", "2 create_tags"]);
    await database.close();
  });

  const failing = (up: ServiceMigration["up"]): ServiceMigration => ({ name: "add_more", up });
  test.each([
    [
      "that throws",
      failing(() => Promise.reject(new Error("no rows"))),
      '2 "add_more" of notes (no rows): correct it',
    ],
    [
      "with a mistake in SQL",
      failing(async (db) => void (await sql`creat table`.execute(db))),
      'refuses the migration 2 "add_more" of notes (',
    ],
    [
      "that takes a table of audit",
      create("add_more", "audit_events"),
      "creates the table audit_events, whose name is one of svc-access",
    ],
    ["that takes one of the relationships", create("add_more", "meta"), "the table meta"],
  ])("one %s is rolled back, with all new ones", async (_, migration, message) => {
    const config = await fresh();
    await (await open(config, [NOTES])).close();
    const refused = open(config, [NOTES, migration, TAGS]);
    await expect(refused).rejects.toThrow(DatabaseError);
    await expect(refused).rejects.toThrow(message);
    const database = await open(config, [NOTES]);
    expect(await versions(database)).toEqual(["1 create_notes"]);
    await database.close();
  });

  test("a database of the version before names takes named ones", async () => {
    const config = await fresh();
    const older = await openDatabase<Tables>(config.database, { logger: SILENT });
    await migrate(older, AUDIT_MIGRATIONS);
    await older.kysely.schema.alterTable("component_migrations").dropColumn("name").execute();
    await older.close();
    const database = await open(config, [NOTES]);
    expect(await versions(database)).toEqual(["1 create_notes"]);
    await database.kysely
      .insertInto("notes")
      .values({ id: "a", size: 2 ** 40 })
      .execute();
    await database.close();
    const runtime = await openDatabase<Tables>(config.database, { logger: SILENT });
    await migrate(runtime, AUDIT_MIGRATIONS);
    await runtime.close();
  });

  test("a service names the command that makes its tables", () => {
    const tables = { component: "notes", migrations: [NOTES] };
    expect(migrationSetOf(tables).program).toBe("migrateServiceDatabase");
    expect(migrationSetOf({ ...tables, migrateCommand: "notes migrate" }).program).toBe(
      "notes migrate",
    );
  });

  test("the owner makes the tables beforehand", async () => {
    const config = await fresh();
    const by = (migrations: readonly ServiceMigration[]) =>
      migrateServiceDatabase(config, { component: "notes", migrations });
    expect(await by([NOTES])).toBe("created");
    expect(await by([NOTES])).toBe("unchanged");
    const database = await open(config, [NOTES]);
    expect(await versions(database)).toEqual(["1 create_notes"]);
    expect(database.kind).toBe(kind);
    await database.close();
    expect(await by([NOTES, TAGS])).toBe("migrated");
  });
});
