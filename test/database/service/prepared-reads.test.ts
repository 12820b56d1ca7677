/** Reads that are compiled once. */
import { renameSync, writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import {
  openServiceDatabase,
  type ServiceDatabase,
  sql,
} from "../../../src/database/service/index.ts";
import { type Configured, onBoth } from "./targets.ts";

interface Tables {
  readonly topics: { readonly id: string; readonly name: string; readonly size: number };
}

const TABLES = {
  component: "topics",
  migrations: [
    {
      name: "create_topics",
      async up(database: ServiceDatabase<any>["kysely"], { text, whole }: any) {
        await database.schema
          .createTable("topics")
          .addColumn("id", text, (column) => column.primaryKey())
          .addColumn("name", text)
          .addColumn("size", whole, (column) => column.notNull())
          .execute();
      },
    },
  ],
};

const nameOf = (database: ServiceDatabase<Tables>) =>
  database.prepareRead((kysely, values: { readonly id: string }) =>
    kysely.selectFrom("topics").select(["name"]).where("id", "=", values.id),
  );

await onBoth("a prepared read", ({ kind, fresh }) => {
  const open = async (config?: Configured) =>
    openServiceDatabase<Tables>(config ?? (await fresh()), TABLES);
  const add = ({ kysely }: Pick<ServiceDatabase<Tables>, "kysely">, id: string, name: string) =>
    kysely.insertInto("topics").values({ id, name, size: 1 }).execute();

  test.each<[string, (database: ServiceDatabase<Tables>) => unknown, string]>([
    [
      "selects all columns",
      (database) => database.prepareRead((kysely) => kysely.selectFrom("topics").selectAll()),
      "names its columns",
    ],
    [
      "selects all columns of a table",
      (database) =>
        database.prepareRead((kysely) => kysely.selectFrom("topics").selectAll("topics")),
      "names its columns",
    ],
    [
      "is a write",
      (database) =>
        database.prepareRead((kysely) =>
          kysely.insertInto("topics").values({ id: "a", name: "A", size: 1 }).returning("id"),
        ),
      "made by selectFrom",
    ],
    [
      "is text",
      (database) =>
        database.prepareRead(() => sql<{ name: string }>`select name from topics` as any),
      "cannot be compiled",
    ],
    [
      "uses a value while it is built",
      (database) =>
        database.prepareRead((kysely, { id }: { readonly id: string }) =>
          kysely.selectFrom("topics").select("name").where("id", "=", `topic-${id}`),
        ),
      "the value id of a prepared read is not known",
    ],
  ])("is refused if it %s", async (_, prepare, message) => {
    const database = await open();
    expect(() => prepare(database)).toThrow(message);
    await database.close();
  });

  test("finds rows by values that are data", async () => {
    const database = await open();
    const { first, all } = { first: nameOf(database), all: nameOf(database) };
    await add(database, "a", "A");
    await add(database, "' or 1=1 --", "B");
    expect(await first.first({ id: "a" })).toEqual({ name: "A" });
    expect(await first.first({ id: "' or 1=1 --" })).toEqual({ name: "B" });
    expect(await first.first({ id: "none" })).toBeUndefined();
    expect(await all.all({ id: "a" })).toEqual([{ name: "A" }]);
    expect(await all.all({ id: "none" })).toEqual([]);
    await database.close();
  });

  test("has several values, fixed ones, aliases and null", async () => {
    const database = await open();
    await database.kysely
      .insertInto("topics")
      .values([
        { id: "a", name: sql<string>`null`, size: 1 },
        { id: "b", name: "B", size: 2 },
        { id: "c", name: "C", size: 3 },
      ])
      .execute();
    const read = database.prepareRead((kysely, values: { readonly least: number; most: number }) =>
      kysely
        .selectFrom("topics")
        .select(({ ref }) => ["id", ref("name").as("title")])
        .where("size", ">=", values.least)
        .where("size", "<", 3)
        .orderBy("id")
        .limit(values.most),
    );
    expect(await read.all({ least: 1, most: 9 })).toEqual([
      { id: "a", title: null },
      { id: "b", title: "B" },
    ]);
    expect(await read.all({ least: 1, most: 1 })).toEqual([{ id: "a", title: null }]);
    expect(await read.all({ least: 2, most: 9 })).toEqual([{ id: "b", title: "B" }]);
    await database.close();
  });

  test("sees what was stored before it, also by another process", async () => {
    const config = await fresh();
    const [one, other] = [await open(config), await open(config)];
    const read = nameOf(one);
    await add(other, "a", "A");
    expect(await read.first({ id: "a" })).toEqual({ name: "A" });
    await other.kysely.updateTable("topics").set({ name: "changed" }).execute();
    expect(await read.first({ id: "a" })).toEqual({ name: "changed" });
    await other.close();
    await one.close();
  });

  test("does not see what a transaction has not stored", async () => {
    const database = await open();
    const read = nameOf(database);
    await add(database, "a", "A");
    let reading: Promise<unknown> = Promise.resolve();
    let inserted: () => void = () => undefined;
    const isInserted = new Promise<void>((resolve) => {
      inserted = resolve;
    });
    let rollBack: () => void = () => undefined;
    const end = new Promise<void>((resolve) => {
      rollBack = resolve;
    });
    const running = database.inTransaction(async (transaction) => {
      await transaction.updateTable("topics").set({ name: "not stored" }).execute();
      inserted();
      await end;
      throw new Error("rolled back");
    });
    await isInserted;
    reading = read.first({ id: "a" });
    rollBack();
    await expect(running).rejects.toThrow("rolled back");
    expect(await reading).toEqual({ name: "A" });
    expect(await read.first({ id: "a" })).toEqual({ name: "A" });
    await database.close();
  });

  test("many at once get their own rows, and errors of one are its own", async () => {
    const database = await open();
    const read = nameOf(database);
    const broken = database.prepareRead((kysely, values: { readonly size: number }) =>
      kysely.selectFrom("topics").select("id").where(sql`nothing`, "=", values.size),
    );
    const ids = Array.from({ length: 300 }, (_, index) => `topic ${index}`);
    for (const id of ids.slice(0, 3)) await add(database, id, id.toUpperCase());
    const found = Promise.all(ids.map((id) => read.first({ id })));
    const failed = broken.first({ size: 1 });
    // Begun while the others wait: it neither waits for ever nor joins their transaction.
    const written = add(database, "late", "LATE");
    await expect(failed).rejects.toThrow("nothing");
    expect((await found).map((row) => row?.name)).toEqual(
      ids.map((id, index) => (index < 3 ? id.toUpperCase() : undefined)),
    );
    await written;
    expect(await read.first({ id: "late" })).toEqual({ name: "LATE" });
    await database.close();
  });

  test("sees the writes that have returned in the same turn", async () => {
    const database = await open();
    const read = nameOf(database);
    const seen: unknown[] = [];
    await Promise.all(
      ["a", "b", "c"].map(async (id) => {
        await read.first({ id });
        await add(database, id, id.toUpperCase());
        seen.push(await read.first({ id }));
      }),
    );
    expect(seen).toHaveLength(3);
    expect(seen).not.toContain(undefined);
    await database.close();
  });

  const change =
    (name: string) =>
    ({ kysely }: Pick<ServiceDatabase<Tables>, "kysely">) =>
      kysely.updateTable("topics").set({ name }).where("id", "=", "a").execute();

  test.each<[string, (database: ServiceDatabase<Tables>) => Promise<unknown>]>([
    ["an update", change("changed")],
    [
      "a transaction",
      (database) => database.inTransaction((kysely) => change("changed")({ kysely })),
    ],
    [
      "a statement that returns rows",
      ({ kysely }) =>
        kysely.updateTable("topics").set({ name: "changed" }).returning("id").execute(),
    ],
    [
      "a statement after a read of the same turn",
      async (database) => {
        const before = nameOf(database).first({ id: "a" });
        await change("changed")(database);
        await before;
      },
    ],
  ])("reads again after %s", async (_, work) => {
    const database = await open();
    const read = nameOf(database);
    await add(database, "a", "A");
    expect(await read.first({ id: "a" })).toEqual({ name: "A" });
    expect(await read.first({ id: "a" })).toEqual({ name: "A" });
    await work(database);
    expect(await read.first({ id: "a" })).toEqual({ name: "changed" });
    await database.close();
  });

  test("what was not stored is found once it is", async () => {
    const database = await open();
    const read = nameOf(database);
    expect(await read.first({ id: "a" })).toBeUndefined();
    expect(await read.first({ id: "a" })).toBeUndefined();
    await add(database, "a", "A");
    expect(await read.first({ id: "a" })).toEqual({ name: "A" });
    await database.close();
  });

  test("what a transaction has not stored is not shown later either", async () => {
    const database = await open();
    const read = nameOf(database);
    await add(database, "a", "A");
    const failed = database.inTransaction(async (kysely) => {
      await change("changed")({ kysely });
      throw new Error("no");
    });
    await expect(failed).rejects.toThrow("no");
    expect(await read.first({ id: "a" })).toEqual({ name: "A" });
    await database.close();
  });

  test("one with a function is read each time", async () => {
    const database = await open();
    const read = database.prepareRead((kysely, values: { readonly id: string }) =>
      kysely
        .selectFrom("topics")
        .select(sql<string>`cast(random() as text)`.as("drawn"))
        .where("id", "=", values.id),
    );
    await add(database, "a", "A");
    const drawn = [await read.first({ id: "a" }), await read.first({ id: "a" })];
    expect(drawn[0]).not.toEqual(drawn[1]);
    await database.close();
  });

  test("is refused in the work of a transaction", async () => {
    const database = await open();
    const read = nameOf(database);
    const running = database.inTransaction(() => read.first({ id: "a" }));
    await expect(running).rejects.toThrow("use the transaction that the work gets");
    await database.close();
  });

  test("errors of the query are the driver's, at each run", async () => {
    const database = await open();
    const read = database.prepareRead((kysely, values: { readonly size: number }) =>
      kysely.selectFrom("topics").select("id").where(sql`nothing`, "=", values.size),
    );
    for (let run = 0; run < 2; run++) {
      const error = await read.first({ size: 1 }).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(Error);
      expect(error).not.toMatchObject({ name: "DatabaseError" });
    }
    await database.close();
  });

  test("a closed database is an error", async () => {
    const database = await open();
    const read = nameOf(database);
    await read.first({ id: "a" });
    await database.close();
    await expect(read.first({ id: "a" })).rejects.toThrow();
  });

  test("slow ones are logged without their values", async () => {
    const lines: unknown[] = [];
    const logger = { debug() {}, info() {}, error() {}, warn: (line: object) => lines.push(line) };
    const config = await fresh({ slow_query_threshold_ns: 0 });
    const database = await openServiceDatabase<Tables>(config, { ...TABLES, logger });
    const read = nameOf(database);
    lines.length = 0;
    await read.first({ id: "a secret" });
    expect(lines).toEqual([
      { sql: expect.stringContaining("select"), duration_ms: expect.any(Number), failed: false },
    ]);
    expect(JSON.stringify(lines)).not.toContain("a secret");
    await database.close();
  });

  if (kind === "postgres") return;

  test("a file that was replaced is an error within a moment", async () => {
    const config = await fresh();
    const database = await open(config);
    const read = nameOf(database);
    await read.first({ id: "a" });
    const file = config.database.file as string;
    renameSync(file, `${file}.old`);
    writeFileSync(file, "");
    await expect
      .poll(() => read.first({ id: "a" }).catch(String), {
        message: "the read reports that its file was replaced",
      })
      .toContain("removed or replaced");
    await database.close();
  });

  /** A row that is read, and another program that has the file open. */
  async function openBesideProgram() {
    const config = await fresh();
    const database = await open(config);
    await add(database, "a", "A");
    const program = new DatabaseSync(config.database.file as string);
    onTestFinished(async () => {
      program.close();
      await database.close();
    });
    return { database, program, read: nameOf(database) };
  }

  test("what another program changes is read again from the next turn on", async () => {
    const { program, read } = await openBesideProgram();
    for (let round = 0; round < 20; round++) {
      await nextTurn();
      program.exec(`update topics set name = 'changed ${round}'`);
      const found = await Promise.all([read.first({ id: "a" }), read.first({ id: "a" })]);
      expect(found).toEqual([{ name: `changed ${round}` }, { name: `changed ${round}` }]);
      expect(await read.first({ id: "a" })).toEqual({ name: `changed ${round}` });
    }
    await nextTurn();
    program.exec("delete from topics");
    expect(await read.first({ id: "a" })).toBeUndefined();
  });

  test("what a statement has read of another program's change, a prepared read sees as well", async () => {
    const { database, program, read } = await openBesideProgram();
    for (let round = 0; round < 20; round++) {
      await read.first({ id: "a" });
      await read.first({ id: "a" });
      program.exec(`update topics set name = 'changed ${round}'`);
      const direct = await database.kysely.selectFrom("topics").select("name").execute();
      expect(direct).toEqual([{ name: `changed ${round}` }]);
      expect(await read.first({ id: "a" })).toEqual({ name: `changed ${round}` });
    }
  });

  test("a turn that takes long asks again what other programs have changed", async () => {
    const { program, read } = await openBesideProgram();
    await read.first({ id: "a" });
    const before = read.first({ id: "a" });
    program.exec("update topics set name = 'changed'");
    const end = performance.now() + 2;
    while (performance.now() < end);
    const after = read.first({ id: "a" });
    expect([await before, await after]).toEqual([{ name: "A" }, { name: "changed" }]);
  });

  test("others have their turns while known rows are read without end", async () => {
    const database = await open();
    const read = nameOf(database);
    await add(database, "a", "A");
    let isOver = false;
    setTimeout(() => {
      isOver = true;
    });
    while (!isOver) expect(await read.first({ id: "a" })).toEqual({ name: "A" });
    await database.close();
  });

  test("who changes a row that was read changes it for nobody else", async () => {
    const database = await open();
    const read = nameOf(database);
    await add(database, "a", "A");
    const row = (await read.first({ id: "a" })) as { name: string };
    expect(() => Object.assign(row, { name: "changed" })).toThrow(TypeError);
    expect(await read.first({ id: "a" })).toEqual({ name: "A" });
    await database.close();
  });

  test("another program's lock is waited for", async () => {
    const config = await fresh();
    const database = await open(config);
    const read = nameOf(database);
    await add(database, "a", "A");
    await database.close();
    const reopened = await open(config);
    const again = nameOf(reopened);
    const program = new DatabaseSync(config.database.file as string);
    program.exec("begin immediate; update topics set name = 'changed'");
    // In WAL mode a writer stops no reader.
    expect(await again.first({ id: "a" })).toEqual({ name: "A" });
    program.exec("commit");
    expect(await again.first({ id: "a" })).toEqual({ name: "changed" });
    program.close();
    await reopened.close();
    await expect(read.first({ id: "a" })).rejects.toThrow();
  });
});
