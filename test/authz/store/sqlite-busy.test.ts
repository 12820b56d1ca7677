/** Another program has locked the SQLite file: the process does not block, and nothing is written twice. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { sql } from "kysely";
import { afterAll, describe, expect, test } from "vitest";
import { openSqliteStore } from "../../../src/authz/store/sqlite/open-sqlite-store.ts";
import { openDatabase } from "../../../src/database/service/open-database.ts";
import { SILENT, settingsOf } from "../../database/settings.ts";
import { countTurns, lockSqlite } from "../../support/sqlite/sqlite-locker.ts";
import { documentEngine, viewersOf, views, writePair } from "../document-engine.ts";
import { contents, create, touch } from "./store-target.ts";

const folder = mkdtempSync(join(tmpdir(), "svc-access-busy-"));
let count = 0;
const freshFile = () => join(folder, `store-${++count}.db`);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The event loop has almost no turns while a process waits inside SQLite. */
const TURNS = 100;
const BUSY = { code: "UNAVAILABLE", message: expect.stringContaining("locked by another program") };

/** The outcome of some work, and the number of turns of the event loop during it. */
async function turnsDuring(work: () => Promise<unknown>) {
  const counter = countTurns();
  const outcome = await work().then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  return { outcome, turns: counter.stop() };
}

describe("relationships", () => {
  test("a commit is refused without blocking the process, and commits work after the lock is released", async () => {
    const file = freshFile();
    const engine = await documentEngine(await openSqliteStore({ file }));
    await writePair(engine, "before");
    const release = await lockSqlite(file);
    const { outcome, turns } = await turnsDuring(() => writePair(engine, "locked"));
    expect(outcome).toMatchObject({ error: BUSY });
    expect(turns).toBeGreaterThan(TURNS);
    // Reads are answered from memory: no other process can have written.
    expect(await views(engine, "before", "left")).toBe(true);
    expect(await views(engine, "locked", "left")).toBe(false);
    expect(await engine.ready()).toEqual({ ready: true });
    await release();
    await writePair(engine, "after");
    expect(await engine.ready()).toEqual({ ready: true });
    const viewers = ["after@left", "after@right", "before@left", "before@right"];
    expect([...(await viewersOf(engine))].sort()).toEqual(viewers);
    await engine.close();
    const store = await openSqliteStore({ file });
    expect(store.sequence).toBe(2);
    expect(await contents(store)).toHaveLength(4);
    await store.close();
  });

  test("a waiting commit is made once when the lock is released", async () => {
    const file = freshFile();
    const store = await openSqliteStore({ file });
    const release = await lockSqlite(file);
    const commit = store.commit([[create("d", "u")], [create("e", "u")]]);
    await release();
    // On a slow machine it may have given up already: then nothing was written.
    const sequence = await commit.catch(async (error) => {
      expect(error).toMatchObject(BUSY);
      await store.recover();
      expect(store.sequence).toBe(0);
      return store.commit([[create("d", "u")], [create("e", "u")]]);
    });
    expect(sequence).toBe(2);
    expect(await contents(store)).toEqual(["d@user:u", "e@user:u"]);
    await store.close();
  });

  test("later commits do not wait one after the other", async () => {
    const file = freshFile();
    const engine = await documentEngine(await openSqliteStore({ file }));
    const release = await lockSqlite(file);
    const writes = Array.from({ length: 200 }, (_, number) => writePair(engine, `d${number}`));
    for (const outcome of await Promise.allSettled(writes)) {
      expect(outcome).toMatchObject({ status: "rejected", reason: { code: "UNAVAILABLE" } });
    }
    await release();
    await writePair(engine, "after");
    expect(await viewersOf(engine)).toEqual(new Set(["after@left", "after@right"]));
    await engine.close();
  });

  test("a start reports it, does not block, and releases the lock of the store", async () => {
    const file = freshFile();
    // An empty database: making it a store requires a write.
    new DatabaseSync(file).exec("pragma user_version = 0");
    const release = await lockSqlite(file);
    const { outcome, turns } = await turnsDuring(() => openSqliteStore({ file }));
    expect(outcome).toMatchObject({ error: BUSY });
    expect(turns).toBeGreaterThan(TURNS);
    await release();
    const store = await openSqliteStore({ file });
    await store.commit([[touch("d", "u")]]);
    await store.close();
  });
});

describe("the database of a service", () => {
  const open = (file: string) =>
    openDatabase<{ notes: { text: string } }>(settingsOf({ file }), { logger: SILENT });

  test("a statement is refused without blocking the process, and statements work after the lock is released", async () => {
    const file = freshFile();
    const database = await open(file);
    await sql`create table notes (text)`.execute(database.kysely);
    const insert = (text: string) => database.kysely.insertInto("notes").values({ text }).execute();
    await insert("before");
    const release = await lockSqlite(file);
    const { outcome, turns } = await turnsDuring(() =>
      Promise.all([insert("locked"), insert("locked"), insert("locked")]),
    );
    expect(database.explain((outcome as { error: unknown }).error)).toMatchObject(BUSY);
    expect(turns).toBeGreaterThan(TURNS);
    expect(await database.kysely.selectFrom("notes").selectAll().execute()).toHaveLength(1);
    await release();
    await insert("after");
    const rows = await database.kysely.selectFrom("notes").select("text").execute();
    expect(rows.map(({ text }) => text)).toEqual(["before", "after"]);
    await database.close();
  });

  test("it is ready while a write waits for the lock, since reads are served", async () => {
    const file = freshFile();
    const database = await open(file);
    await sql`create table notes (text)`.execute(database.kysely);
    const release = await lockSqlite(file);
    let isWaiting = true;
    const insert = database.kysely
      .insertInto("notes")
      .values({ text: "locked" })
      .execute()
      .catch((error: unknown) => error)
      .finally(() => {
        isWaiting = false;
      });
    expect(await database.ready()).toEqual({ ready: true });
    expect(isWaiting).toBe(true);
    expect(database.explain(await insert)).toMatchObject(BUSY);
    expect(await database.ready()).toEqual({ ready: true });
    await release();
    await database.close();
  });

  test("a start reports it, and does not block", async () => {
    const file = freshFile();
    new DatabaseSync(file).exec("pragma user_version = 0");
    const release = await lockSqlite(file);
    const { outcome, turns } = await turnsDuring(() => open(file));
    expect(outcome).toMatchObject({ error: BUSY });
    expect(turns).toBeGreaterThan(TURNS);
    await release();
    await (await open(file)).close();
  });

  test("a removed file accepts no statement, which would be lost with it", async () => {
    const file = freshFile();
    const database = await open(file);
    await sql`create table notes (text)`.execute(database.kysely);
    rmSync(file);
    const insert = database.kysely.insertInto("notes").values({ text: "lost" }).execute();
    await expect(insert).rejects.toThrow("was removed or replaced while it is open");
    await database.close();
  });
});
