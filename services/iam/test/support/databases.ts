import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { Kysely, PostgresDialect, SqliteDialect } from "kysely";
import pg from "pg";
import { afterAll, test } from "vitest";
import { openPostgres } from "../../../../test/support/postgres.ts";
import { createUserTables } from "../../src/store/create-user-tables.ts";
import type { OpenedDatabase } from "../../src/store/provider-database.ts";
import { createProviderTables, type ProviderTables } from "../../src/store/provider-tables.ts";

/** A database of a test; several connections to the same one are replicas. */
export interface TestDatabase {
  readonly open: () => OpenedDatabase;
}

const closing: (() => unknown)[] = [];
afterAll(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** A new SQLite file with the tables of the service. */
export async function sqlite(): Promise<TestDatabase> {
  const folder = mkdtempSync(join(tmpdir(), "svc-iam-"));
  closing.push(() => rmSync(folder, { recursive: true }));
  const open = () => sqliteAt(join(folder, "iam.db"));
  const { kysely } = open();
  await createProviderTables(kysely, "sqlite");
  await createUserTables(kysely, "sqlite");
  return { open };
}

function sqliteAt(file: string): OpenedDatabase {
  const database = new DatabaseSync(file);
  database.exec("pragma journal_mode = wal; pragma synchronous = off; pragma busy_timeout = 5000");
  closing.push(() => database.close());
  const prepare = (sql: string) => {
    const statement = database.prepare(sql);
    return {
      reader: statement.columns().length > 0,
      all: (values: readonly unknown[]) => statement.all(...(values as SQLInputValue[])),
      run: (values: readonly unknown[]) => statement.run(...(values as SQLInputValue[])),
      iterate: (values: readonly unknown[]) => statement.iterate(...(values as SQLInputValue[])),
    };
  };
  const dialect = new SqliteDialect({ database: { prepare, close() {} } });
  return { kind: "sqlite", kysely: new Kysely<ProviderTables>({ dialect }), explain: asError };
}

/** The way to new PostgreSQL schemas with the tables of the service; undefined without PostgreSQL. */
export async function postgres(): Promise<(() => Promise<TestDatabase>) | undefined> {
  const server = await openPostgres();
  if (server === undefined) {
    test.skip("PostgreSQL is not installed", () => undefined);
    return undefined;
  }
  closing.push(() => server.remove());
  return async () => {
    const schema = `iam_${randomUUID().replaceAll("-", "")}`;
    const open = (): OpenedDatabase => {
      const pool = new pg.Pool({
        connectionString: server.url,
        options: `-c search_path=${schema}`,
        max: 3,
        idleTimeoutMillis: 50,
      });
      closing.push(() => pool.end());
      const dialect = new PostgresDialect({ pool });
      return {
        kind: "postgres",
        kysely: new Kysely<ProviderTables>({ dialect }),
        explain: asError,
      };
    };
    const first = open();
    await first.kysely.schema.createSchema(schema).execute();
    await createProviderTables(first.kysely, "postgres");
    await createUserTables(first.kysely, "postgres");
    return { open };
  };
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
