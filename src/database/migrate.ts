import { createHash } from "node:crypto";
import { CompiledQuery, type Kysely, sql } from "kysely";
import { AuthzError } from "../authz/authz-error.ts";
import type { Database, DatabaseKind } from "./database.ts";

/** One step from an empty database to the tables of this program. */
// biome-ignore lint/suspicious/noExplicitAny: a migration makes the tables that a type would name
export type Migration = (connection: Kysely<any>, kind: DatabaseKind) => Promise<void>;

/** The tables of one part of a program, by the steps that make them; steps are only ever appended. */
export interface MigrationSet {
  /** Such as `audit`. */
  readonly component: string;
  readonly steps: readonly Migration[];
}

interface MigrationTables {
  readonly component_migrations: {
    readonly component: string;
    readonly version: number;
    readonly time: string;
  };
}

/**
 * Brings the tables of a component to the version of this program, all or nothing.
 * Of several processes that start at once one does it, and the others wait.
 *
 * @throws AuthzError FAILED_PRECONDITION where a newer program made the tables, UNAVAILABLE
 * where the database is down
 */
export async function migrate(
  // biome-ignore lint/suspicious/noExplicitAny: tables of any kind
  database: Database<any>,
  { component, steps }: MigrationSet,
): Promise<void> {
  const target = database.as<MigrationTables>();
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
      const { version } = await connection
        .selectFrom("component_migrations")
        .where("component", "=", component)
        .select((eb) => eb.fn.max("version").as("version"))
        .executeTakeFirstOrThrow();
      const made = Number(version ?? 0);
      if (made > steps.length) {
        throw new AuthzError(
          "FAILED_PRECONDITION",
          `${target.name} has version ${made} of the ${component} tables and this program knows ${steps.length}: use the newer program that made them`,
        );
      }
      for (const [index, step] of steps.entries()) {
        if (index < made) continue;
        await step(connection, target.kind);
        const row = { component, version: index + 1, time: new Date().toISOString() };
        await connection.insertInto("component_migrations").values(row).execute();
      }
    });
  } catch (error) {
    throw target.explain(error);
  }
}

/** Runs work in a transaction that no other process is in at the same time. */
function locked(
  { kysely, kind }: Database<MigrationTables>,
  work: (connection: Kysely<MigrationTables>) => Promise<void>,
): Promise<void> {
  return kysely.connection().execute(async (connection) => {
    await connection.executeQuery(
      CompiledQuery.raw(kind === "sqlite" ? "begin immediate" : "begin"),
    );
    try {
      if (kind === "postgres")
        await sql`select pg_advisory_xact_lock(${lockKey()})`.execute(connection);
      await work(connection);
      await connection.executeQuery(CompiledQuery.raw("commit"));
    } catch (error) {
      await connection.executeQuery(CompiledQuery.raw("rollback")).catch(() => undefined);
      throw error;
    }
  });
}

/** One for all components and schemas: migrations are short. */
function lockKey(): string {
  return String(createHash("sha256").update("svc-access migrations").digest().readBigInt64BE());
}

/** What another process created in the moment since it was asked for. */
const EXISTS = new Set(["42P06", "23505"]);

/** Asks first, for `if not exists` needs the right to create also where it exists. */
async function createSchema(kysely: Kysely<MigrationTables>, schema: string): Promise<void> {
  const { rows } = await sql`select 1 from pg_namespace where nspname = ${schema}`.execute(kysely);
  if (rows.length > 0) return;
  try {
    await sql`create schema ${sql.id(schema)}`.execute(kysely);
  } catch (error) {
    if (!EXISTS.has((error as { code?: string }).code ?? "")) throw error;
  }
}
