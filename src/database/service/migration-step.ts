import { type Kysely, type RawBuilder, sql } from "kysely";
import type { Database, DatabaseKind } from "../database.ts";
import { DatabaseError } from "../database-error.ts";

/** One step from an empty database to the tables of this program. */
// biome-ignore lint/suspicious/noExplicitAny: a migration creates the tables that a type would name
export type Migration = (connection: Kysely<any>, kind: DatabaseKind) => Promise<void>;

/** The tables of this package, which a service may not create: their part would fail later. */
const RESERVED: readonly string[] = [
  "audit_clock",
  "audit_events",
  "audit_marks",
  "changes",
  "component_migrations",
  "idempotency_keys",
  "job_leases",
  "meta",
  "migrations",
  "pending_removals",
  "relationships",
];

/**
 * Runs a step that a service wrote.
 *
 * @param label - which one it is, for messages
 * @throws DatabaseError FAILED_PRECONDITION if it fails or creates a table of this package
 */
export async function runNamedStep(
  step: Migration,
  // biome-ignore lint/suspicious/noExplicitAny: tables of any kind
  connection: Kysely<any>,
  // biome-ignore lint/suspicious/noExplicitAny: tables of any kind
  database: Database<any>,
  label: string,
): Promise<void> {
  const before = await reservedTables(connection, database);
  try {
    await step(connection, database.kind);
  } catch (error) {
    if (error instanceof DatabaseError) throw error;
    const { message } = error as Partial<Error>;
    throw new DatabaseError(
      "FAILED_PRECONDITION",
      `${database.name} refuses the migration ${label} (${message ?? String(error)}): correct it; none of the new migrations is stored`,
      { cause: error },
    );
  }
  const after = await reservedTables(connection, database);
  const taken = after.find((table) => !before.includes(table));
  if (taken === undefined) return;
  throw new DatabaseError(
    "FAILED_PRECONDITION",
    `the migration ${label} creates the table ${taken}, whose name is one of svc-access: choose another name`,
  );
}

async function reservedTables(
  // biome-ignore lint/suspicious/noExplicitAny: tables of any kind
  connection: Kysely<any>,
  // biome-ignore lint/suspicious/noExplicitAny: tables of any kind
  { kind, schema }: Database<any>,
): Promise<readonly string[]> {
  const names = sql.join(RESERVED);
  const query: Record<DatabaseKind, RawBuilder<{ name: string }>> = {
    sqlite: sql`select name from sqlite_schema where type = 'table' and name in (${names})`,
    postgres: sql`select tablename as name from pg_tables where schemaname = ${schema} and tablename in (${names})`,
  };
  const { rows } = await query[kind].execute(connection);
  return rows.map(({ name }) => name);
}
