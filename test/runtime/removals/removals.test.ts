/** Deletion and creation across the database and the authorization engine, also where they are cut off. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createMemoryStore } from "../../../src/authz/index.ts";
import type { ServiceDatabase } from "../../../src/database/service/index.ts";
import { openRemovals } from "../../../src/runtime/removals/open-removals.ts";
import type { RemovingEngine } from "../../../src/runtime/removals/relationship-removal.ts";
import type { RemovalTables } from "../../../src/runtime/removals/removal-table.ts";
import type { Removals } from "../../../src/runtime/removals/removals.ts";
import { onBoth } from "../../database/service/targets.ts";
import {
  childOf,
  type NoteTables,
  noteEngine,
  noteRemoval,
  openNotes,
  relationshipsOf,
  touching,
} from "./note-service.ts";

const START = 1_800_000_000_000;
const MANY = 1203;
const { signal } = new AbortController();

await onBoth("removals", ({ fresh }) => {
  let database: ServiceDatabase<NoteTables>;
  let engine: Awaited<ReturnType<typeof noteEngine>>;
  let now = START;
  beforeEach(async () => {
    now = START;
    database = await openNotes(await fresh());
    engine = await noteEngine(createMemoryStore());
  });
  afterEach(async () => {
    await engine.close();
    await database.close();
  });

  /** The removals of one process. */
  async function begin(over: Partial<RemovingEngine> = {}, kind = noteRemoval) {
    const removing: RemovingEngine = {
      readRelationships: (...request) => engine.readRelationships(...request),
      writeRelationships: (...request) => engine.writeRelationships(...request),
      ...over,
    };
    const removals = await openRemovals({ database, engine: removing, now: () => now });
    removals.register(kind);
    return removals;
  }
  const store = (id: string) =>
    database.kysely.insertInto("notes").values({ id, state: "ready" }).execute();
  const remove = (removals: Removals<NoteTables>, id: string) =>
    database.inTransaction(async (transaction) => {
      await transaction
        .updateTable("notes")
        .set({ state: "deleted" })
        .where("id", "=", id)
        .execute();
      await removals.add(transaction, "note", id);
    });
  const write = (relationships: Parameters<typeof touching>[0]) =>
    engine.writeRelationships(touching(relationships));
  const left = async () => (await engine.readRelationships({})).items.length;
  const notes = async () =>
    (await database.kysely.selectFrom("notes").select("id").orderBy("id").execute()).map(
      ({ id }) => id,
    );
  const rows = () =>
    database.as<RemovalTables>().kysely.selectFrom("pending_removals").selectAll().execute();
  const samples = async (removals: Removals<NoteTables>) =>
    Object.fromEntries(
      await Promise.all(
        removals.metrics.map(async ({ name, read }) => [name, await read()] as const),
      ),
    );
  const pendingOf = async (removals: Removals<NoteTables>) =>
    (await samples(removals))["svc_access_removals_pending"];

  describe("of records", () => {
    test("relationships go first, in batches, and the record last [IAM-13]", async () => {
      const writes: number[] = [];
      const removals = await begin({
        writeRelationships: (request, options) => {
          writes.push(request.updates.length);
          return engine.writeRelationships(request, options);
        },
      });
      await store("a");
      const children = Array.from({ length: MANY }, (_, index) => childOf("a", `c${index}`));
      for (let at = 0; at < MANY; at += 1000) await write(children.slice(at, at + 1000));
      await write([childOf("b", "c1")]);
      await remove(removals, "a");
      now += 2000;
      expect(await samples(removals)).toEqual({
        svc_access_removals_pending: [{ labels: { kind: "note" }, value: 1 }],
        svc_access_removals_oldest_seconds: [{ labels: { kind: "note" }, value: 2 }],
        svc_access_removed_relationships_total: [{ value: 0 }],
      });
      await removals.run(signal);
      expect(await left()).toBe(1);
      expect(writes).toEqual([500, 500, 203]);
      now += 29_999;
      await removals.run(signal);
      expect(await notes()).toEqual(["a"]);
      now += 1;
      await removals.run(signal);
      expect(await notes()).toEqual([]);
      expect(await rows()).toEqual([]);
      expect(await samples(removals)).toEqual({
        svc_access_removals_pending: [{ labels: { kind: "note" }, value: 0 }],
        svc_access_removals_oldest_seconds: [{ labels: { kind: "note" }, value: 0 }],
        svc_access_removed_relationships_total: [{ value: MANY }],
      });
    });

    test("all that names an object goes", async () => {
      const removals = await begin();
      await write(relationshipsOf("a"));
      await remove(removals, "a");
      await removals.run(signal);
      expect(await left()).toBe(0);
    });

    test("a relationship that was written meanwhile is removed before the record goes", async () => {
      const removals = await begin();
      await store("a");
      await remove(removals, "a");
      await removals.run(signal);
      now += 30_000;
      await write([childOf("a", "late")]);
      await removals.run(signal);
      expect([await left(), await notes()]).toEqual([0, ["a"]]);
      now += 29_999;
      await removals.run(signal);
      expect(await notes()).toEqual(["a"]);
      now += 1;
      await removals.run(signal);
      expect(await notes()).toEqual([]);
    });

    test("what was cut off is continued by another process, and nothing is lost [IAM-13]", async () => {
      await store("a");
      await write(Array.from({ length: 700 }, (_, index) => childOf("a", `c${index}`)));
      const stopped = new AbortController();
      const first = await begin({
        async writeRelationships(request, options) {
          const result = await engine.writeRelationships(request, options);
          stopped.abort(new Error("the server stops"));
          return result;
        },
      });
      await remove(first, "a");
      await expect(first.run(stopped.signal)).rejects.toThrow("the server stops");
      expect(await left()).toBe(200);
      const second = await begin();
      await second.run(signal);
      now += 30_000;
      await second.run(signal);
      expect([await left(), await notes()]).toEqual([0, []]);
    });

    test("what was cut off comes after the others: it does not keep them waiting for ever", async () => {
      const looked: string[] = [];
      let late = new AbortController();
      const removals = await begin({
        async readRelationships(filter, page, options) {
          const id = filter.subject?.id;
          if (id !== undefined) looked.push(id);
          if (id === "a") {
            late.abort(new Error("the job takes too long"));
            options?.signal?.throwIfAborted();
          }
          return engine.readRelationships(filter, page, options);
        },
      });
      await remove(removals, "a");
      now += 1;
      await remove(removals, "b");
      now += 1;
      await expect(removals.run(late.signal)).rejects.toThrow("takes too long");
      late = new AbortController();
      await expect(removals.run(late.signal)).rejects.toThrow("takes too long");
      expect(looked).toEqual(["a", "b", "a"]);
    });

    test("one that fails does not hold up the others, and waits longer each time", async () => {
      let isDown = true;
      const removals = await begin({
        async readRelationships(filter, page, options) {
          if (isDown && filter.subject?.id === "a") throw new Error("the engine is down");
          return engine.readRelationships(filter, page, options);
        },
      });
      await store("a");
      await store("b");
      await remove(removals, "a");
      await remove(removals, "b");
      await expect(removals.run(signal)).rejects.toThrow("the engine is down");
      now += 9_999;
      await removals.run(signal);
      now += 1;
      await expect(removals.run(signal)).rejects.toThrow("the engine is down");
      now += 20_000;
      await expect(removals.run(signal)).rejects.toThrow("the engine is down");
      expect(await notes()).toEqual(["a"]);
      isDown = false;
      now += 40_000;
      await removals.run(signal);
      now += 30_000;
      await removals.run(signal);
      expect(await notes()).toEqual([]);
    });

    test("if the record cannot be deleted, nothing of it is, and it is tried again", async () => {
      let fails = true;
      const removals = await begin(
        {},
        {
          ...noteRemoval,
          async deleteRecord(transaction, id) {
            await noteRemoval.deleteRecord(transaction, id);
            if (fails) throw new Error("refused");
          },
        },
      );
      await store("a");
      await remove(removals, "a");
      await removals.run(signal);
      now += 30_000;
      await expect(removals.run(signal)).rejects.toThrow("refused");
      expect([await notes(), (await rows()).length]).toEqual([["a"], 1]);
      fails = false;
      now += 10_000;
      await removals.run(signal);
      expect([await notes(), await rows()]).toEqual([[], []]);
    });

    test("what is added in a transaction that fails is not removed", async () => {
      const removals = await begin();
      const refused = database.inTransaction(async (transaction) => {
        await removals.add(transaction, "note", "a");
        throw new Error("refused");
      });
      await expect(refused).rejects.toThrow("refused");
      expect(await rows()).toEqual([]);
    });

    test("an object that is added twice is removed once, and two processes at once do no harm", async () => {
      const [first, second] = [await begin(), await begin()];
      await store("a");
      await write([childOf("a", "c")]);
      await remove(first, "a");
      await remove(second, "a");
      for (let turn = 0; turn < 3; turn++) {
        await Promise.all([first.run(signal), second.run(signal)]);
        now += 30_000;
      }
      expect([await left(), await notes(), await rows()]).toEqual([0, [], []]);
    });

    test("a kind that only a newer version knows is left to it, and is in the metrics", async () => {
      const newer = await begin({}, { ...noteRemoval, name: "page" });
      await database.inTransaction((transaction) => newer.add(transaction, "page", "a"));
      const older = await begin();
      await older.run(signal);
      expect(await rows()).toMatchObject([{ kind: "page", empty_time: null }]);
      expect(await pendingOf(older)).toEqual([
        { labels: { kind: "note" }, value: 0 },
        { labels: { kind: "page" }, value: 1 },
      ]);
    });
  });

  describe("of creations", () => {
    const create = (removals: Removals<NoteTables>, id: string) =>
      database.inTransaction(async (transaction) => {
        await transaction.insertInto("notes").values({ id, state: "creating" }).execute();
        await removals.beginCreation(transaction, "note", id);
      });
    const complete = (removals: Removals<NoteTables>, id: string) =>
      database.inTransaction(async (transaction) => {
        await removals.completeCreation(transaction, "note", id);
        await transaction
          .updateTable("notes")
          .set({ state: "ready" })
          .where("id", "=", id)
          .execute();
      });

    test("one that is completed stays", async () => {
      const removals = await begin();
      await create(removals, "a");
      await write(relationshipsOf("a"));
      expect(await pendingOf(removals)).toEqual([{ labels: { kind: "note" }, value: 0 }]);
      await complete(removals, "a");
      now += 3_600_000;
      await removals.run(signal);
      expect([await left(), await notes(), await rows()]).toEqual([3, ["a"], []]);
    });

    test("one that was cut off is removed after 10 minutes, with its relationships [IAM-13]", async () => {
      const removals = await begin();
      await create(removals, "a");
      await write(relationshipsOf("a"));
      now += 599_999;
      await removals.run(signal);
      expect(await left()).toBe(3);
      now += 1;
      await removals.run(signal);
      expect([await left(), await notes()]).toEqual([0, ["a"]]);
      expect(await pendingOf(removals)).toEqual([{ labels: { kind: "note" }, value: 1 }]);
      await expect(complete(removals, "a")).rejects.toMatchObject({ code: "UNAVAILABLE" });
      now += 30_000;
      await removals.run(signal);
      expect([await notes(), await rows()]).toEqual([[], []]);
      await expect(complete(removals, "a")).rejects.toMatchObject({ code: "UNAVAILABLE" });
    });

    test("a second call that continues it has its own 10 minutes", async () => {
      const removals = await begin();
      await create(removals, "a");
      now += 599_999;
      await database.inTransaction((tx) => removals.beginCreation(tx, "note", "a"));
      now += 599_999;
      await removals.run(signal);
      await complete(removals, "a");
      expect(await notes()).toEqual(["a"]);
    });

    test("one that is deleted before it is complete is not completed any more", async () => {
      const removals = await begin();
      await create(removals, "a");
      await remove(removals, "a");
      await expect(complete(removals, "a")).rejects.toMatchObject({ code: "UNAVAILABLE" });
      await removals.run(signal);
      now += 30_000;
      await removals.run(signal);
      expect([await notes(), await rows()]).toEqual([[], []]);
    });

    test("what is being removed is not made a creation again", async () => {
      const removals = await begin();
      await store("a");
      await remove(removals, "a");
      await database.inTransaction((tx) => removals.beginCreation(tx, "note", "a"));
      expect(await rows()).toMatchObject([{ creating: 0 }]);
    });

    test("of its completion and its end at the same moment, one happens", async () => {
      const removals = await begin();
      for (let round = 0; round < 10; round++) {
        const id = `n${round}`;
        await create(removals, id);
        now += 600_000;
        const completed = complete(removals, id).then(
          () => true,
          () => false,
        );
        await removals.run(signal);
        now += 30_000;
        const stays = await completed;
        await removals.run(signal);
        expect((await notes()).includes(id), id).toBe(stays);
      }
    });
  });

  test("kinds are checked", async () => {
    const removals = await begin();
    expect(() => removals.register(noteRemoval)).toThrow("two kinds of removal note");
    expect(() => removals.register({ ...noteRemoval, name: "A b" })).toThrow("not valid");
    await expect(
      database.inTransaction((transaction) => removals.add(transaction, "page", "a")),
    ).rejects.toThrow("there is no kind of removal page");
  });
});

test("another database than one of openServiceDatabase is refused", async () => {
  await expect(openRemovals({ database: {} as never, engine: {} as never })).rejects.toThrow(
    "not the result of openServiceDatabase",
  );
});
