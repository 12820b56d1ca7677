import { Client } from "pg";
import { afterAll, describe, expect, test } from "vitest";
import { openPostgres, type TestPostgres } from "../support/postgres.ts";

/** A server and a function to query it. */
export interface PostgresForTests extends TestPostgres {
  readonly query: (sql: string) => Promise<Record<string, unknown>[]>;
}

/** Tests on a PostgreSQL server. Without one they are skipped with their names, but fail in CI. */
export async function onPostgres(
  name: string,
  tests: (server: PostgresForTests) => void,
): Promise<void> {
  const server = await openPostgres();
  if (server === undefined) {
    const why = "PostgreSQL is not installed and POSTGRES_URL is not set";
    if (process.env["CI"] === "true")
      test(`${name}: PostgreSQL is available`, () => expect.fail(why));
    else test.skip(`${name}: ${why}`, () => undefined);
    return;
  }
  const query = async (sql: string) => {
    const client = new Client({ connectionString: server.url });
    await client.connect();
    try {
      return (await client.query(sql)).rows;
    } finally {
      await client.end();
    }
  };
  // A hook of the file, since that of a group does not run if all its tests are filtered out.
  afterAll(() => server.remove());
  describe(name, () => tests({ ...server, query }));
}
