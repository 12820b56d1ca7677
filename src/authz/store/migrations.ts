import { randomUUID } from "node:crypto";
import { CompiledQuery, type CreateTableBuilder, type Kysely, type RawBuilder, sql } from "kysely";
import type { DatabaseKind } from "../../database/database.ts";
import type { TableRights } from "../../database/postgres/postgres-rights.ts";
import {
  COLUMN_TYPES,
  changeFrom,
  explainMigration,
  isOutdated,
  readVersion,
  type TableChange,
  type TableVersion,
} from "../../database/tables.ts";
import type { StoreDatabase } from "./store-database.ts";
import type { Tables } from "./tables.ts";

/**
 * The end of a table definition whose key is the whole row: without it SQLite would store the key
 * twice.
 */
const TABLE_END: Readonly<Record<DatabaseKind, RawBuilder<unknown>>> = {
  sqlite: sql`without rowid`,
  postgres: sql``,
};

type Migration = (connection: Kysely<Tables>, kind: DatabaseKind) => Promise<void>;

/** The steps from an empty database to the tables of this version; never changed, only appended to. */
const MIGRATIONS: readonly Migration[] = [createTables, dropHead];

/** What this program does with its tables in PostgreSQL. */
const RIGHTS: TableRights = {
  migrations: ["select"],
  relationships: ["select", "insert", "delete"],
  changes: ["select", "insert", "delete"],
  meta: ["select", "update"],
};

/**
 * Brings the tables to this version, all or nothing. The lock is held.
 *
 * @throws DatabaseError FAILED_PRECONDITION if a newer program made them, or the user lacks a right
 */
export async function migrate(database: StoreDatabase): Promise<TableChange> {
  await database.assertRights?.(RIGHTS);
  const version = await tableVersion(database, database.writer);
  if (!isOutdated(version)) return "unchanged";
  await makeTables(database, version);
  await database.assertRights?.(RIGHTS);
  return changeFrom(version);
}

/** The existing version of the tables, and the version that this program needs. */
export async function tableVersion(
  { name }: Pick<StoreDatabase, "name">,
  connection: Kysely<Tables>,
): Promise<TableVersion> {
  const made = await readVersion(() =>
    connection
      .selectFrom("migrations")
      .select((eb) => eb.fn.max("version").as("version"))
      .executeTakeFirstOrThrow(),
  );
  return { ...STORE_TABLES, name, made };
}

/** The tables of a store that does not exist yet. */
export const STORE_TABLES = {
  component: "relationship",
  made: 0,
  known: MIGRATIONS.length,
} as const;

async function makeTables(database: StoreDatabase, version: TableVersion): Promise<void> {
  try {
    await inTransaction(database.writer, async (connection) => {
      await connection.schema
        .createTable("migrations")
        .ifNotExists()
        .addColumn("version", "integer", (column) => column.primaryKey())
        .addColumn("time", "text", (column) => column.notNull())
        .execute();
      for (const [index, migration] of MIGRATIONS.entries()) {
        if (index < version.made) continue;
        await migration(connection, database.kind);
        await connection
          .insertInto("migrations")
          .values({ version: index + 1, time: new Date().toISOString() })
          .execute();
      }
    });
  } catch (error) {
    throw explainMigration(error, version);
  }
}

const BEGIN = CompiledQuery.raw("begin");
const COMMIT = CompiledQuery.raw("commit");
const ROLLBACK = CompiledQuery.raw("rollback");

/**
 * Runs a piece of work in a transaction. Unlike Kysely's own, it throws the error of the work even
 * if the connection that caused it cannot roll back.
 */
function inTransaction<T>(
  database: Kysely<Tables>,
  work: (connection: Kysely<Tables>) => Promise<T>,
): Promise<T> {
  return database.connection().execute(async (connection) => {
    await connection.executeQuery(BEGIN);
    try {
      const result = await work(connection);
      await connection.executeQuery(COMMIT);
      return result;
    } catch (error) {
      // SQLite has already rolled back if the disk is full; the server rolls back a lost
      // connection.
      await connection.executeQuery(ROLLBACK).catch(() => undefined);
      throw error;
    }
  });
}

async function createTables(connection: Kysely<Tables>, kind: DatabaseKind): Promise<void> {
  const { text, whole } = COLUMN_TYPES[kind];
  const key = [
    "resource_type",
    "resource_id",
    "relation",
    "subject_type",
    "subject_id",
    "subject_relation",
  ] as const;
  let relationships: CreateTableBuilder<string, string> =
    connection.schema.createTable("relationships");
  for (const column of key) {
    relationships = relationships.addColumn(column, text, (builder) => builder.notNull());
  }
  relationships = relationships.addPrimaryKeyConstraint("relationships_key", [...key]);
  await relationships.modifyEnd(TABLE_END[kind]).execute();

  await connection.schema
    .createTable("changes")
    .addColumn("sequence", whole, (column) => column.primaryKey())
    .addColumn("updates", "text", (column) => column.notNull())
    .addColumn("time", "text", (column) => column.notNull())
    .execute();
  await connection.schema
    .createTable("meta")
    .addColumn("singleton", "integer", (column) => column.primaryKey().check(sql`singleton = 1`))
    .addColumn("store_id", "text", (column) => column.notNull())
    .addColumn("head", whole, (column) => column.notNull().defaultTo(0))
    .addColumn("epoch", whole, (column) => column.notNull())
    .addColumn("holder", "text", (column) => column.notNull())
    .execute();
  await connection
    .insertInto("meta")
    .values({ singleton: 1, store_id: randomUUID(), epoch: 0, holder: "" })
    .execute();
}

/** The changes determine the head: a row that every write changes would cost each write a page. */
async function dropHead(connection: Kysely<Tables>): Promise<void> {
  await connection.schema.alterTable("meta").dropColumn("head").execute();
}
