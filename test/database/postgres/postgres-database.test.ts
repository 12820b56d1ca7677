import { randomUUID } from "node:crypto";
import { type Kysely, sql } from "kysely";
import { afterAll, describe, expect, test } from "vitest";
import { DatabaseError } from "../../../src/database/database-error.ts";
import { migrate } from "../../../src/database/service/migrate.ts";
import { openDatabase } from "../../../src/database/service/open-database.ts";
import { openPostgres } from "../../support/postgres.ts";
import { SILENT, settingsOf } from "../settings.ts";

const server = await openPostgres();
afterAll(() => server?.remove());

interface Tables {
  readonly notes: { readonly text: string };
}

const NOTES = {
  component: "notes",
  steps: [
    (connection: Kysely<any>) =>
      connection.schema.createTable("notes").addColumn("text", "text").execute(),
  ],
};

test("a malformed URL is refused without quoting it", async () => {
  const settings = settingsOf({ driver: "postgres", url: "http://u:t0ps3cret@host/db" });
  const error = await openDatabase(settings, { logger: SILENT }).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(DatabaseError);
  expect((error as DatabaseError).message).toMatch(/cannot be read: write postgres:/);
  expect((error as DatabaseError).message).not.toContain("t0ps3cret");
});

test("a missing server is reported by the first use", async () => {
  const url = "postgres://u:t0ps3cret@127.0.0.1:1/db";
  const database = await openDatabase(settingsOf({ driver: "postgres", url }), { logger: SILENT });
  const { ready, reason = "" } = await database.ready();
  expect(ready).toBe(false);
  expect(reason).toContain("cannot be reached");
  expect(reason).not.toContain("t0ps3cret");
  await expect(migrate(database, NOTES)).rejects.toMatchObject({ code: "UNAVAILABLE" });
  await database.close();
});

if (server === undefined) {
  const why = "PostgreSQL is not installed and POSTGRES_URL is not set";
  // In CI it must be available.
  if (process.env["CI"] === "true") test("PostgreSQL is available", () => expect.fail(why));
  else test.skip(`a database in PostgreSQL: ${why}`, () => undefined);
} else {
  const { url } = server;
  const open = (schema: string, of = {}) =>
    openDatabase<Tables>(settingsOf({ driver: "postgres", url, ...of }), {
      logger: SILENT,
      schema,
    });

  describe("a database in PostgreSQL", () => {
    test("processes that start at once migrate one after the other", async () => {
      const schema = `Database ${randomUUID()}`;
      const databases = await Promise.all(Array.from({ length: 8 }, () => open(schema)));
      await Promise.all(databases.map((database) => migrate(database, NOTES)));
      const { rows } =
        await sql`select version from ${sql.id(schema)}.component_migrations`.execute(
          databases[0]?.kysely as Kysely<Tables>,
        );
      expect(rows).toHaveLength(1);
      await expect(
        migrate(databases[0] as never, { component: "notes", steps: [] }),
      ).rejects.toThrow("this program knows 0");
      for (const database of databases) await database.close();
    });

    test("has as many connections as are configured, and keeps as many idle [STORE-1]", async () => {
      const database = await open("public", { max_open_conns: 4, max_idle_conns: 2 });
      const queries = Array.from({ length: 10 }, () =>
        sql`select pg_sleep(0.05)`.execute(database.kysely),
      );
      await expect
        .poll(() => database.poolStats().open, { message: "the pool opens four connections" })
        .toBe(4);
      expect(database.poolStats().waiting).toBeGreaterThan(0);
      await Promise.all(queries);
      await expect
        .poll(() => database.poolStats(), { message: "the pool keeps two idle connections" })
        .toEqual({ open: 2, idle: 2, waiting: 0, max: 4 });
      await database.close();
    });

    test("a connection that is lost during use fails one query and does not end the process", async () => {
      const database = await open("public", { max_open_conns: 2 });
      const cut = sql`select pg_terminate_backend(pg_backend_pid()), pg_sleep(1)`;
      await expect(cut.execute(database.kysely)).rejects.toThrow();
      expect(await database.ready()).toEqual({ ready: true });
      await database.kysely.connection().execute(async (connection) => {
        const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(
          connection,
        );
        const other = sql`select pg_terminate_backend(${rows[0]?.pid})`;
        await other.execute(database.kysely);
        await expect(sql`select 1`.execute(connection)).rejects.toThrow();
      });
      expect(await database.ready()).toEqual({ ready: true });
      await database.close();
    });

    test("a read-only server, such as a demoted primary, is not ready", async () => {
      const standby = `${url}${url.includes("?") ? "&" : "?"}options=-c%20default_transaction_read_only%3Don`;
      const database = await open("public", { url: standby });
      expect(await database.ready()).toEqual({
        ready: false,
        reason: `${database.name} is read-only: name the primary server`,
      });
      await database.close();
    });

    test("a blocked statement is not reported as an unreachable server", async () => {
      const database = await open("public", { max_open_conns: 1 });
      const hold = sql`select pg_sleep(1.5)`.execute(database.kysely);
      expect((await database.ready()).reason).toMatch(/ gave no answer in 800 ms: check/);
      await hold;
      await database.close();
    });

    test("a commit is durable even if the server's default is not", async () => {
      const lax = `${url}${url.includes("?") ? "&" : "?"}options=-c%20synchronous_commit%3Doff`;
      const database = await open("public", { url: lax });
      const { rows } = await sql`show synchronous_commit`.execute(database.kysely);
      expect(rows).toEqual([{ synchronous_commit: "on" }]);
      await database.close();
    });
  });
}
