/** An engine whose store is no longer its own answers nothing: somebody may have been revoked meanwhile. */
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createMemoryStore } from "../../src/authz/embedded/index.ts";
import type { AuthorizationEngine } from "../../src/authz/engine/engine.ts";
import type { RelationshipStore } from "../../src/authz/engine/relationship-store.ts";
import { AuthzError } from "../../src/authz/index.ts";
import { openSqliteStore } from "../../src/authz/store/sqlite/open-sqlite-store.ts";
import { documentEngine, views, writePair } from "./document-engine.ts";
import { kill, startChild } from "./store/store-target.ts";

const UNAVAILABLE = { code: "UNAVAILABLE" };
/** How long it may answer still, in milliseconds (docs/operations.md). */
const BOUND = 1000;

let folder: string;
let file: string;
let engine: AuthorizationEngine;
let failures: string[];

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] });
  folder = mkdtempSync(join(tmpdir(), "svc-access-lost-"));
  file = join(folder, "store.db");
  engine = await documentEngine(await openSqliteStore({ file }));
  failures = [];
  engine.onFailure?.(({ message }) => void failures.push(message));
  await writePair(engine, "doc");
});
afterEach(async () => {
  vi.useRealTimers();
  await engine.close();
  rmSync(folder, { recursive: true, force: true });
});

const afterTurns = () => new Promise((resolve) => setTimeout(resolve, 0));
const answers = () => views(engine, "doc", "left").catch((error: unknown) => error);

/** Lets the bound pass, and says what is answered then. */
async function afterBound(): Promise<unknown> {
  vi.advanceTimersByTime(BOUND);
  for (let turn = 0; turn < 20; turn++) await afterTurns();
  return answers();
}

async function expectFailed(why: RegExp): Promise<void> {
  expect(await afterBound()).toMatchObject(UNAVAILABLE);
  expect(failures).toEqual([expect.stringMatching(why)]);
  expect(failures[0]).toContain("restart the process");
  await expect(writePair(engine, "more")).rejects.toMatchObject(UNAVAILABLE);
  expect(await engine.ready()).toEqual({ ready: false, reason: failures[0] });
  vi.advanceTimersByTime(100 * BOUND);
  expect(await afterBound()).toMatchObject(UNAVAILABLE);
  expect(failures).toHaveLength(1);
}

/** Another inode in the place of a file. */
const replace = (path: string) => {
  copyFileSync(path, `${path}.copy`);
  renameSync(`${path}.copy`, path);
};

test("nothing is wrong as long as it is its own", async () => {
  for (let time = 0; time < 20; time++) {
    expect(await afterBound()).toBe(true);
    await writePair(engine, `doc-${time}`);
  }
  expect(failures).toEqual([]);
});

test("after its lock was removed a second process revokes, and the first answers no longer", async () => {
  rmSync(`${file}-lock`);
  const child = startChild({ sqlite: { file } }, "revoke");
  expect(await child.lines.next()).toMatchObject({ value: "open 1" });
  expect(await child.lines.next()).toMatchObject({ value: "revoked" });
  await expectFailed(/was lost to process \d+ on /);
  await kill(child);
});

test("a second process that came in through another lock is seen by the epoch of the store", async () => {
  // The lock is where it was: by this name another one is used.
  const other = join(folder, "other");
  symlinkSync(folder, other);
  const database = new DatabaseSync(file);
  database.exec("update meta set epoch = epoch + 1");
  database.close();
  await expectFailed(/was lost to/);
});

test("who writes without taking the store is seen by its head", async () => {
  const database = new DatabaseSync(file);
  database.exec("delete from relationships");
  database.exec("insert into changes select 2, updates, time from changes");
  database.close();
  await expectFailed(/this process no longer owns/);
});

describe("a file that was", () => {
  test.each<[string, () => void, string]>([
    ["removed: the lock", () => unlinkSync(`${file}-lock`), "-lock was removed or replaced"],
    ["replaced: the lock", () => replace(`${file}-lock`), "-lock was removed or replaced"],
    [
      "emptied again: the lock",
      () => {
        unlinkSync(`${file}-lock`);
        writeFileSync(`${file}-lock`, "");
      },
      "-lock was removed or replaced",
    ],
    ["removed: the store", () => unlinkSync(file), "store.db was removed or replaced"],
    ["replaced: the store", () => replace(file), "store.db was removed or replaced"],
    ["removed: its log", () => unlinkSync(`${file}-wal`), "-wal was removed or replaced"],
    [
      "all of it moved away",
      () => {
        for (const suffix of ["", "-lock", "-wal", "-shm"]) {
          renameSync(`${file}${suffix}`, `${file}.old${suffix}`);
        }
      },
      "was removed or replaced",
    ],
  ])("%s", async (_, change, why) => {
    change();
    await expectFailed(new RegExp(why));
  });

  test("removed takes no write, also before that was noticed", async () => {
    unlinkSync(`${file}-lock`);
    // The last look counts for so long; the next one by itself comes after 250 ms.
    vi.advanceTimersByTime(10);
    await expect(writePair(engine, "more")).rejects.toMatchObject(UNAVAILABLE);
    expect(await answers()).toMatchObject(UNAVAILABLE);
    expect(existsSync(`${file}-lock`)).toBe(false);
    const store = await openSqliteStore({ file });
    expect(store.sequence).toBe(1);
    await store.close();
  });
});

test("who follows the changes is notified", async () => {
  const changes = engine.watch()[Symbol.asyncIterator]();
  const next = changes.next().catch((error: unknown) => error);
  await afterTurns();
  unlinkSync(`${file}-lock`);
  await afterBound();
  expect(await next).toMatchObject(UNAVAILABLE);
});

describe("where it cannot be found out", () => {
  /** A store whose lock may have been lost, until it is found. */
  function doubtful(): { store: RelationshipStore; lose(): void; find(): void } {
    const store = createMemoryStore();
    let listener: () => void = () => undefined;
    let isLost = false;
    Object.assign(store, {
      doubtLimitMs: 10_000,
      onInterrupted: (reported: () => void) => {
        listener = reported;
      },
      recover: async () => {
        if (isLost) throw new AuthzError("UNAVAILABLE", "the server does not answer");
      },
    });
    return {
      store,
      lose() {
        isLost = true;
        listener();
      },
      find() {
        isLost = false;
        listener();
      },
    };
  }

  test("it answers for as long as the store says, and again when that was found", async () => {
    const { store, lose, find } = doubtful();
    const other = await documentEngine(store);
    await writePair(other, "doc");
    const answer = () => views(other, "doc", "left").catch((error: unknown) => error);
    lose();
    vi.advanceTimersByTime(9_999);
    expect(await answer()).toBe(true);
    vi.advanceTimersByTime(1);
    expect(await answer()).toMatchObject(UNAVAILABLE);
    // Asking once more does not begin again.
    lose();
    expect(await answer()).toMatchObject(UNAVAILABLE);
    expect((await other.ready()).ready).toBe(false);
    find();
    await afterTurns();
    expect(await answer()).toBe(true);
    expect(await other.ready()).toEqual({ ready: true });
    await writePair(other, "more");
    await other.close();
  });
});
