/** Statements and transactions of a service's database. */
import { expect, test } from "vitest";
import {
  isUniqueViolation,
  openServiceDatabase,
  type ServiceDatabase,
  sql,
} from "../../../src/database/service/index.ts";
import { type Configured, onBoth } from "./targets.ts";

interface Tables {
  readonly counters: { readonly id: string; readonly value: number };
}

const TABLES = {
  component: "counters",
  migrations: [
    {
      name: "create_counters",
      async up(database: ServiceDatabase<any>["kysely"], { text, whole }: any) {
        await database.schema
          .createTable("counters")
          .addColumn("id", text, (column) => column.primaryKey())
          .addColumn("value", whole, (column) => column.notNull())
          .execute();
      },
    },
  ],
};

test.each([
  ["PostgreSQL", { code: "23505" }, true],
  ["a unique index of SQLite", { code: "ERR_SQLITE_ERROR", errcode: 2067 }, true],
  ["a primary key of SQLite", { code: "ERR_SQLITE_ERROR", errcode: 1555 }, true],
  ["a foreign key of PostgreSQL", { code: "23503" }, false],
  ["a foreign key of SQLite", { code: "ERR_SQLITE_ERROR", errcode: 787 }, false],
  ["another error with such a number", { code: "EIO", errcode: 2067 }, false],
  ["an error", new Error("23505"), false],
  ["a text", "23505", false],
  ["null", null, false],
  ["undefined", undefined, false],
])("isUniqueViolation: %s", (_, error, expected) => {
  expect(isUniqueViolation(error)).toBe(expected);
});

await onBoth("a service's database", ({ kind, fresh }) => {
  const open = async (config?: Configured) =>
    openServiceDatabase<Tables>(config ?? (await fresh()), TABLES);
  const add = (database: Pick<ServiceDatabase<Tables>, "kysely">, id: string, value = 0) =>
    database.kysely.insertInto("counters").values({ id, value }).execute();
  const all = async ({ kysely }: ServiceDatabase<Tables>) => {
    const rows = await kysely.selectFrom("counters").selectAll().orderBy("id").execute();
    return Object.fromEntries(rows.map(({ id, value }) => [id, Number(value)]));
  };

  test("statements as text find the tables", async () => {
    const database = await open();
    await sql`insert into counters (id, value) values ('a', 1)`.execute(database.kysely);
    await sql`insert into ${sql.table("counters")} (id, value) values ('b', 2)`.execute(
      database.kysely,
    );
    expect(await all(database)).toEqual({ a: 1, b: 2 });
    await database.close();
  });

  test("errors of a statement are the driver's, and a unique violation is recognised", async () => {
    const database = await open();
    await add(database, "a");
    expect(isUniqueViolation(await add(database, "a").catch((error: unknown) => error))).toBe(true);
    const error = await sql`select nothing from counters`
      .execute(database.kysely)
      .catch((thrown: unknown) => thrown);
    expect(isUniqueViolation(error)).toBe(false);
    expect(error).not.toMatchObject({ name: "DatabaseError" });
    await database.close();
  });

  test("a transaction stores all or nothing, and throws the error of its work", async () => {
    const database = await open();
    const stored = await database.inTransaction(async (transaction) => {
      await add({ kysely: transaction }, "a");
      await add({ kysely: transaction }, "b");
      return "stored";
    });
    expect(stored).toBe("stored");
    const problem = new Error("no");
    const failed = database.inTransaction(async (transaction) => {
      await add({ kysely: transaction }, "c");
      throw problem;
    });
    await expect(failed).rejects.toBe(problem);
    expect(await all(database)).toEqual({ a: 0, b: 0 });
    await database.close();
  });

  test("transactions at once lose no change", async () => {
    const config = await fresh();
    const replicas = [await open(config), await open(config)];
    await add(replicas[0] as ServiceDatabase<Tables>, "a");
    const increment = (database: ServiceDatabase<Tables>) =>
      database.inTransaction(
        async (transaction) => {
          const { value } = await transaction
            .selectFrom("counters")
            .select("value")
            .where("id", "=", "a")
            .executeTakeFirstOrThrow();
          await transaction
            .updateTable("counters")
            .set({ value: Number(value) + 1 })
            .where("id", "=", "a")
            .execute();
        },
        { isolation: "serializable", attempts: 50 },
      );
    await Promise.all(replicas.flatMap((one) => Array.from({ length: 8 }, () => increment(one))));
    expect(await all(replicas[1] as ServiceDatabase<Tables>)).toEqual({ a: 16 });
    for (const database of replicas) await database.close();
  });

  test("a conflict is tried again, a bounded number of times, and is then 503", async () => {
    const database = await open();
    let runs = 0;
    const conflict = Object.assign(new Error("could not serialize access"), { code: "40001" });
    const tried = database.inTransaction(
      async () => {
        runs++;
        throw conflict;
      },
      { attempts: 3 },
    );
    await expect(tried).rejects.toMatchObject({ code: "UNAVAILABLE", cause: conflict });
    await expect(tried).rejects.toThrow("was rolled back 3 times, as others changed the same rows");
    expect(runs).toBe(3);
    await database.close();
  });

  test("what would wait for the transaction that it is part of is refused", async () => {
    const database = await open();
    const inside = (work: () => Promise<unknown>) => database.inTransaction(() => work());
    await expect(inside(() => add(database, "a"))).rejects.toThrow("use the transaction");
    await expect(inside(() => sql`select 1`.execute(database.kysely))).rejects.toThrow(
      "a statement of its own in the work of a transaction",
    );
    await expect(inside(() => database.inTransaction(async () => 1))).rejects.toThrow(
      "a second transaction in the work of a transaction",
    );
    // What the work has started, but that runs later, is not part of it.
    let later: Promise<unknown> | undefined;
    let proceed = (): void => undefined;
    const committed = new Promise<void>((resolve) => {
      proceed = resolve;
    });
    await inside(async () => {
      later = committed.then(() => add(database, "later"));
    });
    proceed();
    await later;
    expect(await all(database)).toEqual({ later: 0 });
    await database.close();
  });

  test("one that takes too long is rolled back, and cannot continue", async () => {
    const database = await open();
    let proceed = (): void => undefined;
    const rolledBack = new Promise<void>((resolve) => {
      proceed = resolve;
    });
    let late: Promise<unknown> | undefined;
    const slow = database.inTransaction(
      async (transaction) => {
        await add({ kysely: transaction }, "a");
        await (late = rolledBack.then(() => add({ kysely: transaction }, "b")));
      },
      { timeoutMs: 50 },
    );
    await expect(slow).rejects.toMatchObject({ code: "UNAVAILABLE" });
    await expect(slow).rejects.toThrow("took longer than 50 ms and was rolled back");
    proceed();
    await expect(late).rejects.toThrow();
    expect(await all(database)).toEqual({});
    await database.close();
  });

  test("a caught error of a statement never loses what was acknowledged", async () => {
    const database = await open();
    await add(database, "a");
    const careless = database.inTransaction(async (transaction) => {
      await add({ kysely: transaction }, "b");
      await add({ kysely: transaction }, "a").catch(() => undefined);
    });
    // PostgreSQL has rolled back by itself; SQLite only refused the statement.
    if (kind === "postgres") await expect(careless).rejects.toThrow("nothing of the transaction");
    else await careless;
    expect(await all(database)).toEqual(kind === "postgres" ? { a: 0 } : { a: 0, b: 0 });
    await database.close();
  });

  test("once it is closed, it is not ready, and its errors say so", async () => {
    const database = await open();
    expect(await database.ready()).toBeUndefined();
    expect(database.poolStats()).toMatchObject({ waiting: 0 });
    await database.close();
    await database.close();
    expect(await database.ready()).toMatch(/database/);
    await expect(add(database, "a")).rejects.toMatchObject({ name: "DatabaseError" });
  });
});
