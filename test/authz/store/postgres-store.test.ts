import { randomUUID } from "node:crypto";
import { Client } from "pg";
import { afterAll, describe, expect, test } from "vitest";
import { openPostgresStore } from "../../../src/authz/store/postgres/open-postgres-store.ts";
import { openPostgres } from "../../support/postgres.ts";
import { storeContract } from "./store-contract.ts";
import { contents, create, kill, startChild, touch } from "./store-target.ts";

const server = await openPostgres();
afterAll(() => server?.remove());

if (server === undefined) {
  const why = "PostgreSQL is not installed and POSTGRES_URL is not set";
  // In CI it must be available.
  if (process.env["CI"] === "true") test("PostgreSQL is available", () => expect.fail(why));
  else test.skip(`a store in PostgreSQL: ${why}`, () => undefined);
} else {
  const { url, stop, start } = server;
  const schemas: string[] = [];
  const fresh = () => {
    const schema = `Test ${randomUUID()}`;
    schemas.push(schema);
    return { connection: { connectionString: url, application_name: schema }, schema };
  };
  const query = async (sql: string) => {
    const client = new Client({ connectionString: url });
    await client.connect();
    try {
      return (await client.query(sql)).rows;
    } finally {
      await client.end();
    }
  };
  /** Ends the connections of a store, as a broken network does. */
  const cut = (schema: string) =>
    query(`select pg_terminate_backend(pid) from pg_stat_activity
      where application_name = '${schema}'`);

  describe("a store in PostgreSQL", () => {
    afterAll(async () => {
      for (const schema of schemas) await query(`drop schema if exists "${schema}" cascade`);
    });
    storeContract(() => ({ postgres: fresh() }));

    test("is unavailable after a lost connection, until recover", async () => {
      const options = fresh();
      const store = await openPostgresStore(options);
      await store.commit([[create("d", "u")]]);
      await cut(options.schema);
      const commit = store.commit([[touch("d", "v")]]);
      await expect(commit).rejects.toMatchObject({ code: "UNAVAILABLE" });
      await store.recover();
      expect(store.sequence).toBe(1);
      expect(await store.commit([[touch("d", "v")]])).toBe(2);
      await store.close();
    });

    test("broken connections end reads, not the process", async () => {
      const options = fresh();
      const store = await openPostgresStore(options);
      await store.commit([[touch("d", "u")]]);
      for (let round = 0; round < 5; round++) {
        const listing = store.load()[Symbol.asyncIterator]();
        await listing.next();
        const reads = Array.from({ length: 60 }, () => store.changesAfter(0, 10));
        const results = Promise.allSettled(reads);
        await cut(options.schema);
        for (const result of await results) {
          if (result.status === "rejected") expect(result.reason.code).toBe("UNAVAILABLE");
        }
        await listing.return?.(undefined);
        await store.recover();
        // No broken connection is kept, however many were in use.
        const readAgain = async () => {
          for (let read = 0; read < 20; read++) await store.changesAfter(0, 10);
        };
        await expect
          .poll(readAgain, { message: "the store reads over new connections" })
          .toBeUndefined();
      }
      await store.close();
    });

    test("a lock that another process took in the meantime is not taken back", async () => {
      const options = fresh();
      const store = await openPostgresStore(options);
      await cut(options.schema);
      const child = startChild({ postgres: options }, "hold");
      expect(await child.lines.next()).toMatchObject({ value: "open 0" });
      const commit = store.commit([[touch("d", "v")]]);
      await expect(commit).rejects.toMatchObject({ code: "UNAVAILABLE" });
      const recovery = store.recover();
      await expect(recovery).rejects.toMatchObject({ code: "FAILED_PRECONDITION" });
      await expect(recovery).rejects.toThrow(`held by process ${child.process.pid} on`);
      await kill(child);
      await expect
        .poll(
          () =>
            store.recover().then(
              () => true,
              () => false,
            ),
          { message: "the store recovers" },
        )
        .toBe(true);
      await store.commit([[touch("d", "v")]]);
      await store.close();
    });

    test("a write of another process in the meantime is not mistaken for our unfinished one", async () => {
      const options = fresh();
      const store = await openPostgresStore(options);
      await cut(options.schema);
      const commit = store.commit([[touch("d", "ours")]]);
      await expect(commit).rejects.toMatchObject({ code: "UNAVAILABLE" });
      const other = await openPostgresStore(options);
      await other.commit([[touch("d", "theirs")]]);
      await other.close();
      await expect(store.recover()).rejects.toMatchObject({ code: "FAILED_PRECONDITION" });
      await store.close();
    });

    test("never has two writers, even if a proxy has lost the lock", async () => {
      const options = fresh();
      const store = await openPostgresStore(options);
      await query(`update "${options.schema}".meta set epoch = epoch + 1`);
      const commit = store.commit([[touch("d", "v")]]);
      await expect(commit).rejects.toMatchObject({ code: "FAILED_PRECONDITION" });
      expect(await query(`select * from "${options.schema}".changes`)).toEqual([]);
      expect(await query(`select * from "${options.schema}".relationships`)).toEqual([]);
      await store.close();
    });

    test("from a newer program is refused", async () => {
      const options = fresh();
      await (await openPostgresStore(options)).close();
      await query(`insert into "${options.schema}".migrations values (99, 'later')`);
      const store = openPostgresStore(options);
      await expect(store).rejects.toMatchObject({ code: "FAILED_PRECONDITION" });
      await expect(store).rejects.toThrow(/version 99 of the relationship tables/);
    });

    test("keeps at most ten idle connections and uses at most twenty", async () => {
      const options = fresh();
      const store = await openPostgresStore(options);
      for (let write = 0; write < 3; write++) await store.commit([[touch("d", `u${write}`)]]);
      const reads = Array.from({ length: 60 }, () => store.changesAfter(0, 10));
      for (const changes of await Promise.all(reads)) expect(changes).toHaveLength(3);
      const connections = async () =>
        (
          await query(
            `select count(*)::int as n from pg_stat_activity where application_name = '${options.schema}'`,
          )
        )[0].n;
      await expect
        .poll(connections, { message: "all connections but ten idle ones are closed" })
        .toBeLessThanOrEqual(11);
      await store.close();
      await expect.poll(connections, { message: "all connections are closed" }).toBe(0);
    });

    test.each([
      [
        "no server listens",
        "postgres://u:s3cret@127.0.0.1:1/db",
        "UNAVAILABLE",
        "cannot be reached",
      ],
      [
        "an unknown host",
        "postgres://u:s3cret@host.invalid/db",
        "UNAVAILABLE",
        "cannot be reached",
      ],
      ["no URL", "s3cret", "FAILED_PRECONDITION", "cannot be read: write postgres://"],
      ["a broken URL", "postgres://u:s3cret@h:port/db", "FAILED_PRECONDITION", "cannot be read"],
      ["bad encoding", "postgres://u:s3cret%ff@h/db", "FAILED_PRECONDITION", "cannot be read"],
      ["no database", databaseUrl(url, "missing"), "FAILED_PRECONDITION", "create the database"],
    ])("%s is an error that contains no secret", async (_, bad, code, message) => {
      const error = await openPostgresStore({ url: bad }).catch((reason: unknown) => reason);
      expect(error).toMatchObject({ name: "AuthzError", code });
      expect((error as Error).message).toContain(message);
      expect((error as Error).message).not.toMatch(/s3cret|\n/);
      expect(JSON.stringify((error as Error).cause ?? "")).not.toContain("s3cret");
    });

    // The temporary server asks the user "guarded" for a password.
    test.skipIf(start === undefined)(
      "wrong credentials and missing rights are refused",
      async () => {
        await query("create role guarded login password 'right'");
        const as = (password: string) => url.replace("postgres@", `guarded:${password}@`);
        const wrong = openPostgresStore({ url: as("s3cret") });
        await expect(wrong).rejects.toMatchObject({ code: "FAILED_PRECONDITION" });
        await expect(wrong).rejects.toThrow(/rejects the login of user guarded: correct/);
        await expect(wrong).rejects.not.toThrow(/s3cret/);
        const none = openPostgresStore({ url: url.replace("postgres@", "guarded@") });
        await expect(none).rejects.toThrow(/requires a password: set one for user guarded/);
        const powerless = openPostgresStore({ url: as("right") });
        await expect(powerless).rejects.toMatchObject({ code: "FAILED_PRECONDITION" });
        await expect(powerless).rejects.toThrow(
          /run svc-access database migrate as the owner of the database, or let them run grant create /,
        );
      },
    );

    test("a connection that breaks under load loses no acknowledged write", async () => {
      const options = fresh();
      const store = await openPostgresStore(options);
      for (let round = 0; round < 10; round++) {
        let acknowledged = store.sequence;
        const writes = Array.from({ length: 100 }, async (_, write) => {
          acknowledged = await store.commit([[touch(`d${round}`, `u${write}`)]]);
        });
        const results = Promise.allSettled(writes);
        await cut(options.schema);
        await results;
        await store.recover();
        // Unacknowledged writes may have been committed.
        expect(store.sequence).toBeGreaterThanOrEqual(acknowledged);
        expect(await contents(store)).toHaveLength(store.sequence);
        expect(await store.changesAfter(0, 10_000)).toHaveLength(store.sequence);
      }
      await store.close();
    });

    test.skipIf(start === undefined)("works again after a restart of the server", async () => {
      const store = await openPostgresStore(fresh());
      await store.commit([[create("d", "u")]]);
      stop?.();
      const commit = store.commit([[touch("d", "v")]]);
      await expect(commit).rejects.toMatchObject({ code: "UNAVAILABLE" });
      await expect(store.changesAfter(0, 1)).rejects.toMatchObject({ code: "UNAVAILABLE" });
      await expect(contents(store)).rejects.toMatchObject({ code: "UNAVAILABLE" });
      await expect(store.recover()).rejects.toMatchObject({ code: "UNAVAILABLE" });
      start?.();
      await store.recover();
      expect(store.sequence).toBe(1);
      expect(await store.commit([[touch("d", "v")]])).toBe(2);
      expect(await contents(store)).toEqual(["d@user:u", "d@user:v"]);
      await store.close();
    });
  });
}

function databaseUrl(url: string, database: string): string {
  const changed = new URL(url);
  changed.pathname = `/${database}`;
  return changed.href;
}
