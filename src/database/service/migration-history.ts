import { type Kysely, type RawBuilder, sql } from "kysely";
import type { Database, DatabaseKind } from "../database.ts";
import { DatabaseError } from "../database-error.ts";
import { isFailure } from "../statement-failure.ts";

/** The table of the steps that have run. */
export interface MigrationTables {
  readonly component_migrations: {
    readonly component: string;
    readonly version: number;
    readonly time: string;
    /** Null for steps without names. */
    readonly name: string | null;
  };
}

/** The steps that a program knows. */
export interface KnownSteps {
  /** The name of the database, for messages. */
  readonly name: string;
  readonly component: string;
  readonly names: readonly string[];
}

/** Creates the table of the steps that have run, or adds what older versions of it lack. */
export async function createHistory(
  connection: Kysely<MigrationTables>,
  { kind, schema }: Database<MigrationTables>,
): Promise<void> {
  await connection.schema
    .createTable("component_migrations")
    .ifNotExists()
    .addColumn("component", "text", (column) => column.notNull())
    .addColumn("version", "integer", (column) => column.notNull())
    .addColumn("time", "text", (column) => column.notNull())
    .addColumn("name", "text")
    .addPrimaryKeyConstraint("component_migrations_key", ["component", "version"])
    .execute();
  // A failed statement would end the transaction, and altering needs more rights than looking.
  const query: Record<DatabaseKind, RawBuilder<unknown>> = {
    sqlite: sql`select 1 from pragma_table_info('component_migrations') where name = 'name'`,
    postgres: sql`select 1 from information_schema.columns where table_schema = ${schema}
      and table_name = 'component_migrations' and column_name = 'name'`,
  };
  const { rows } = await query[kind].execute(connection);
  if (rows.length > 0) return;
  await connection.schema.alterTable("component_migrations").addColumn("name", "text").execute();
}

/**
 * Compares the steps that have run with those that the program knows.
 *
 * @returns how many have run
 * @throws DatabaseError FAILED_PRECONDITION if one of them has another name or place here
 */
export async function assertHistory(
  connection: Kysely<MigrationTables>,
  { name, component, names }: KnownSteps,
): Promise<number> {
  const applied = await readNames(connection, component);
  for (const [index, ran] of applied.entries()) {
    const here = names[index];
    // More steps than are known is the work of a newer program.
    if (here === undefined || ran === here) continue;
    throw new DatabaseError(
      "FAILED_PRECONDITION",
      `${name} has run the ${component} migration "${ran}" as number ${index + 1}, which is "${here}" in this program: a migration that has run keeps its name and place, and new ones are appended`,
    );
  }
  return applied.length;
}

async function readNames(
  connection: Kysely<MigrationTables>,
  component: string,
): Promise<readonly (string | null)[]> {
  try {
    const rows = await connection
      .selectFrom("component_migrations")
      .select("name")
      .where("component", "=", component)
      .orderBy("version")
      .execute();
    return rows.map(({ name }) => name);
  } catch (error) {
    // The table of an older version has no names, so no named step has run.
    if (isFailure("tableMissing", error) || isFailure("columnMissing", error)) return [];
    throw error;
  }
}
