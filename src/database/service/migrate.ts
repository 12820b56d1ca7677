import { createHash } from "node:crypto";
import { CompiledQuery, type Kysely, type RawBuilder, sql } from "kysely";
import type { Database, DatabaseKind } from "../database.ts";
import { createSchema } from "../postgres/create-schema.ts";
import { assertRights, type TableRights } from "../postgres/postgres-rights.ts";
import {
  changeFrom,
  explainMigration,
  isOutdated,
  readVersion,
  type TableChange,
  type TableVersion,
} from "../tables.ts";
import { assertHistory, createHistory, type MigrationTables } from "./migration-history.ts";
import { type Migration, runNamedStep } from "./migration-step.ts";

/** The migrations of one part of a program; new ones are only ever appended. */
export interface MigrationSet {
  /** The name of the part, such as `audit`. */
  readonly component: string;
  readonly steps: readonly Migration[];
  /** The names of the steps, which are stored: a changed history is then refused. */
  readonly names?: readonly string[];
  /** What makes the tables as their owner, for messages; `svc-access database migrate` if absent. */
  readonly program?: string;
  /** The privileges that the program needs on the tables in PostgreSQL; without them it does not start. */
  readonly rights?: TableRights;
}

/**
 * Migrates the tables of a component to the version of this program, atomically.
 * If several processes start at once, one of them migrates, and the others wait. If the tables
 * already have this version, the user of the connection needs no privilege to create tables.
 *
 * @throws DatabaseError FAILED_PRECONDITION if a newer program made the tables, their history is
 * another one, a step fails or the user lacks a privilege, UNAVAILABLE if the database is down
 */
export async function migrate(
  // biome-ignore lint/suspicious/noExplicitAny: tables of any kind
  database: Database<any>,
  set: MigrationSet,
): Promise<TableChange> {
  const target = database.as<MigrationTables>();
  try {
    await assertAllRights(target, set);
    const found = await tableVersion(target, set, target.kysely);
    if (!isOutdated(found)) return "unchanged";
    const change = await makeTables(target, set, found);
    await assertAllRights(target, set);
    return change;
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

/**
 * The version of the tables of a component, without any change.
 *
 * @throws DatabaseError FAILED_PRECONDITION if a newer program made them, or their history is another one
 */
export async function componentVersion(
  // biome-ignore lint/suspicious/noExplicitAny: tables of any kind
  database: Database<any>,
  set: MigrationSet,
): Promise<TableVersion> {
  const target = database.as<MigrationTables>();
  try {
    const found = await tableVersion(target, set, target.kysely);
    isOutdated(found);
    return found;
  } catch (error) {
    throw target.explain(error);
  }
}

async function tableVersion(
  { name }: Database<MigrationTables>,
  { component, steps, names, program }: MigrationSet,
  connection: Kysely<MigrationTables>,
): Promise<TableVersion> {
  const known = { name, component, known: steps.length, program };
  if (names !== undefined) {
    return { ...known, made: await assertHistory(connection, { ...known, names }) };
  }
  const made = await readVersion(() =>
    connection
      .selectFrom("component_migrations")
      .where("component", "=", component)
      .select((eb) => eb.fn.max("version").as("version"))
      .executeTakeFirstOrThrow(),
  );
  return { ...known, made };
}

async function makeTables(
  target: Database<MigrationTables>,
  set: MigrationSet,
  found: TableVersion,
): Promise<TableChange> {
  try {
    if (target.schema !== undefined) await createSchema(target.kysely, target.schema);
    return await locked(target, async (connection) => {
      await createHistory(connection, target);
      // Another process may have migrated while this one waited.
      const now = await tableVersion(target, set, connection);
      if (!isOutdated(now)) return "unchanged";
      const { component, steps, names } = set;
      for (const [index, step] of steps.entries()) {
        if (index < now.made) continue;
        const version = index + 1;
        const name = names?.[index];
        await (name === undefined
          ? step(connection, target.kind)
          : runNamedStep(step, connection, target, `${version} "${name}" of ${component}`));
        const row = { component, version, time: new Date().toISOString(), name: name ?? null };
        await connection.insertInto("component_migrations").values(row).execute();
      }
      return changeFrom(now);
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
function locked<Result>(
  { kysely, kind }: Database<MigrationTables>,
  work: (connection: Kysely<MigrationTables>) => Promise<Result>,
): Promise<Result> {
  return kysely.connection().execute(async (connection) => {
    const { begin, lock } = LOCKS[kind];
    await connection.executeQuery(CompiledQuery.raw(begin));
    try {
      await lock?.execute(connection);
      const result = await work(connection);
      await connection.executeQuery(CompiledQuery.raw("commit"));
      return result;
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
