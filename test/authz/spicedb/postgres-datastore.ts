import pg from "pg";
import { openPostgres, postgresPrograms, type TestPostgres } from "../../support/postgres.ts";
import { spicedbIsAbsent } from "../../support/spicedb.ts";

/** A PostgreSQL server for the relationships of a SpiceDB. */
export interface PostgresDatastore {
  readonly url: string;
  /** Stop and start a temporary server; absent for one that others use too. */
  readonly stop?: () => void;
  readonly start?: () => void;
  remove(): Promise<void>;
}

/** Whether the tests of a SpiceDB on PostgreSQL are skipped, with a warning; never in CI. */
export function datastoreIsAbsent(): boolean {
  if (spicedbIsAbsent()) return true;
  if (process.env["POSTGRES_URL"] || postgresPrograms() !== undefined) return false;
  const message = "there is no PostgreSQL: set POSTGRES_URL, or install it";
  if (process.env["CI"] === "true") throw new Error(message);
  console.warn(`SKIPPED, the tests of a SpiceDB on PostgreSQL: ${message}`);
  return true;
}

/** A separate database, on a server that tracks the times of commits, which SpiceDB's watch needs. */
export async function openDatastore(): Promise<PostgresDatastore> {
  const server = await openPostgres();
  if (server === undefined) throw new Error("there is no PostgreSQL");
  const name = `spicedb_${process.pid}_${Date.now()}`;
  if (server.stop !== undefined) {
    await query(server, "ALTER SYSTEM SET track_commit_timestamp = on");
    server.stop();
    server.start?.();
  }
  await query(server, `CREATE DATABASE ${name}`);
  const url = new URL(server.url);
  url.pathname = `/${name}`;
  url.searchParams.set("sslmode", "disable");
  return {
    url: url.href,
    ...(server.stop === undefined ? {} : { stop: server.stop }),
    ...(server.start === undefined ? {} : { start: server.start }),
    remove: async () => {
      if (server.stop === undefined) await query(server, `DROP DATABASE ${name} WITH (FORCE)`);
      server.remove();
    },
  };
}

async function query({ url }: TestPostgres, text: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(text);
  } finally {
    await client.end();
  }
}
