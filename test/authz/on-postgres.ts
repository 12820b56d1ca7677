import { afterAll, describe, expect, test } from "vitest";
import { openPostgres, query, type TestPostgres } from "../support/postgres.ts";

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
  // A hook of the file, since that of a group does not run if all its tests are filtered out.
  afterAll(() => server.remove());
  describe(name, () => tests({ ...server, query: (sql) => query(server.url, sql) }));
}
