import { createHash } from "node:crypto";
import { CompiledQuery, type Kysely, type RawBuilder, sql } from "kysely";
import type { Database, DatabaseKind } from "../database.ts";
import { createSchema } from "../postgres/create-schema.ts";
import { assertRights, type TableRights } from "../postgres/postgres-rights.ts";
import { explainMigration, isOutdated, readVersion, type TableVersion } from "../tables.ts";

/** One step from an empty database to the tables of this program. */
// biome-ignore lint/suspicious/noExplicitAny: a migration creates the tables that a type would name
export type Migration = (connection: Kysely<any>, kind: DatabaseKind) => Promise<void>;

/** The migrations of one part of a program; new ones are only ever appended. */
export interface MigrationSet {
  /** The name of the part, such as `audit`. */
  readonly component: string;
  readonly steps: readonly Migration[];
  /** The privileges that the program needs on the tables in PostgreSQL; without them it does not start. */
  readonly rights?: TableRights;
}

interface MigrationTables {
  readonly component_migrations: {
    readonly component: string;
    readonly version: number;
    readonly time: string;
  };
}

/**
 * Migrates the tables of a component to the version of this program, atomically.
 * If several processes start at once, one of them migrates, and the others wait. If the tables
 * already have this version, the user of the connection needs no privilege to create tables.
 *
 * @throws DatabaseError FAILED_PRECONDITION if a newer program made the tables or the user lacks a
 * privilege, UNAVAILABLE if the database is down
 */
export async function migrate(
  // biome-ignore lint/suspicious/noExplicitAny: tables of any kind
  database: Database<any>,
  set: MigrationSet,
): Promise<void> {
  const target = database.as<MigrationTables>();
  try {
    await assertAllRights(target, set);
    const found = await tableVersion(target, set, target.kysely);
    if (!isOutdated(found)) return;
    await makeTables(target, set, found);
    await assertAllRights(target, set);
  } catch (error) {
    throw target.explain(error);
  }
}

/**
 * Checks that the user of the connection has the privileges that a component needs.
 *
 * @throws MissingRightsError with the statements that grant missing privileges
 */
export async function assertAllRights(
  // biome-ignore lint/suspicious/noExplicitAny: tables of any kind
  { kysely, name, schema }: Database<any>,
  set: MigrationSet,
): Promise<void> {
  if (schema === undefined) return;
  const rights = { ...set.rights, component_migrations: ["select"] } as const;
  await assertRights(kysely, { name, schema, rights });
}

async function tableVersion(
  { name }: Database<MigrationTables>,
  { component, steps }: MigrationSet,
  connection: Kysely<MigrationTables>,
): Promise<TableVersion> {
  const made = await readVersion(() =>
    connection
      .selectFrom("component_migrations")
      .where("component", "=", component)
      .select((eb) => eb.fn.max("version").as("version"))
      .executeTakeFirstOrThrow(),
  );
  return { name, component, made, known: steps.length };
}

async function makeTables(
  target: Database<MigrationTables>,
  set: MigrationSet,
  found: TableVersion,
): Promise<void> {
  try {
    if (target.schema !== undefined) await createSchema(target.kysely, target.schema);
    await locked(target, async (connection) => {
      await connection.schema
        .createTable("component_migrations")
        .ifNotExists()
        .addColumn("component", "text", (column) => column.notNull())
        .addColumn("version", "integer", (column) => column.notNull())
        .addColumn("time", "text", (column) => column.notNull())
        .addPrimaryKeyConstraint("component_migrations_key", ["component", "version"])
        .execute();
      // Another process may have migrated while this one waited.
      const now = await tableVersion(target, set, connection);
      if (!isOutdated(now)) return;
      const { component, steps } = set;
      for (const [index, step] of steps.entries()) {
        if (index < now.made) continue;
        await step(connection, target.kind);
        const row = { component, version: index + 1, time: new Date().toISOString() };
        await connection.insertInto("component_migrations").values(row).execute();
      }
    });
  } catch (error) {
    throw explainMigration(error, found);
  }
}

/** The statements that begin an exclusive transaction. */
const LOCKS: Readonly<
  Record<DatabaseKind, { readonly begin: string; readonly lock?: RawBuilder<unknown> }>
> = {
  sqlite: { begin: "begin immediate" },
  postgres: { begin: "begin", lock: sql`select pg_advisory_xact_lock(${lockKey()})` },
};

/** Runs work in a transaction that excludes other processes. */
function locked(
  { kysely, kind }: Database<MigrationTables>,
  work: (connection: Kysely<MigrationTables>) => Promise<void>,
): Promise<void> {
  return kysely.connection().execute(async (connection) => {
    const { begin, lock } = LOCKS[kind];
    await connection.executeQuery(CompiledQuery.raw(begin));
    try {
      await lock?.execute(connection);
      await work(connection);
      await connection.executeQuery(CompiledQuery.raw("commit"));
    } catch (error) {
      await connection.executeQuery(CompiledQuery.raw("rollback")).catch(() => undefined);
      throw error;
    }
  });
}

/** The lock key, the same for all components and schemas, since migrations are short. */
function lockKey(): string {
  return String(createHash("sha256").update("svc-access migrations").digest().readBigInt64BE());
}
