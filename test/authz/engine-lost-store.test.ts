/** An engine that no longer owns its store decides nothing: another process may have revoked access. */
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
/** How long it may still decide, in milliseconds (docs/operations.md). */
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

/** Lets the bound pass, and returns the decision or error after it. */
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

/** Replaces a file by a copy, which has another inode. */
const replace = (path: string) => {
  copyFileSync(path, `${path}.copy`);
  renameSync(`${path}.copy`, path);
};

test("an engine that owns its store reports no failure", async () => {
  for (let time = 0; time < 20; time++) {
    expect(await afterBound()).toBe(true);
    await writePair(engine, `doc-${time}`);
  }
  expect(failures).toEqual([]);
});

test("after a second process takes a removed lock and revokes access, the first process decides nothing", async () => {
  rmSync(`${file}-lock`);
  const child = startChild({ sqlite: { file } }, "revoke");
  expect(await child.lines.next()).toMatchObject({ value: "open 1" });
  expect(await child.lines.next()).toMatchObject({ value: "revoked" });
  await expectFailed(/was lost to process \d+ on /);
  await kill(child);
});

test("a second process that uses another lock is detected by the epoch of the store", async () => {
  // The lock stays in its place; by this name, another lock is used.
  const other = join(folder, "other");
  symlinkSync(folder, other);
  const database = new DatabaseSync(file);
  database.exec("update meta set epoch = epoch + 1");
  database.close();
  await expectFailed(/was lost to/);
});

test("a write without the lock is detected by the head of the store", async () => {
  const database = new DatabaseSync(file);
  database.exec("delete from relationships");
  database.exec("insert into changes select 2, updates, time from changes");
  database.close();
  await expectFailed(/this process no longer owns/);
});

describe("a file of the store that was", () => {
  test.each<[string, () => void, string]>([
    ["removed: the lock", () => unlinkSync(`${file}-lock`), "-lock was removed or replaced"],
    ["replaced: the lock", () => replace(`${file}-lock`), "-lock was removed or replaced"],
    [
      "removed and created empty: the lock",
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
      "moved away: all of its files",
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

  test("removed accepts no write, even before the next periodic check", async () => {
    unlinkSync(`${file}-lock`);
    // The last check is valid until now; the next periodic one would be after 250 ms.
    vi.advanceTimersByTime(10);
    await expect(writePair(engine, "more")).rejects.toMatchObject(UNAVAILABLE);
    expect(await answers()).toMatchObject(UNAVAILABLE);
    expect(existsSync(`${file}-lock`)).toBe(false);
    const store = await openSqliteStore({ file });
    expect(store.sequence).toBe(1);
    await store.close();
  });
});

test("a watcher gets the error", async () => {
  const changes = engine.watch()[Symbol.asyncIterator]();
  const next = changes.next().catch((error: unknown) => error);
  await afterTurns();
  unlinkSync(`${file}-lock`);
  await afterBound();
  expect(await next).toMatchObject(UNAVAILABLE);
});

describe("while ownership is unknown", () => {
  /** A store whose lock may have been lost, until it is known to be held. */
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

  test("the engine decides until the limit of the store, and again once ownership is confirmed", async () => {
    const { store, lose, find } = doubtful();
    const other = await documentEngine(store);
    await writePair(other, "doc");
    const answer = () => views(other, "doc", "left").catch((error: unknown) => error);
    lose();
    vi.advanceTimersByTime(9_999);
    expect(await answer()).toBe(true);
    vi.advanceTimersByTime(1);
    expect(await answer()).toMatchObject(UNAVAILABLE);
    // Another interruption does not extend the limit.
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
