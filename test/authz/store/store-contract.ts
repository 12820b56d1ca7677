import { hostname } from "node:os";
import { afterEach, expect, test } from "vitest";
import type { RelationshipStore } from "../../../src/authz/engine/relationship-store.ts";
import { runs } from "../../support/effort.ts";
import {
  contents,
  create,
  kill,
  openSoon,
  openTarget,
  remove,
  type StoreTarget,
  startChild,
  touch,
  update,
} from "./store-target.ts";

/** How often a writing process is killed; more often in CI. */
const KILLS = Math.min(50, Number(process.env["STORE_KILLS"] ?? runs(10, 1)));

/** The tests of every relationship store; `fresh` returns a target without a store. */
export function storeContract(fresh: () => StoreTarget): void {
  const opened: RelationshipStore[] = [];
  afterEach(async () => {
    for (const store of opened.splice(0)) await store.close();
  });
  const open = async (target: StoreTarget, options?: { retention?: number }) => {
    const store = await openTarget(target, options);
    opened.push(store);
    return store;
  };

  test("returns what was committed, in any script", async () => {
    const store = await open(fresh());
    expect(store.sequence).toBe(0);
    expect(await contents(store)).toEqual([]);
    await store.commit([[create("d1", "alice"), update("CREATE", "d1", "g", "member")]]);
    await store.commit([[touch("d1", "alice"), create("d2", "*"), create("文書/ü-😀", "Zoë")]]);
    await store.commit([[remove("d2", "*"), remove("d3", "nobody")]]);
    const all = ["d1@group:g#member", "d1@user:alice", "文書/ü-😀@user:Zoë"];
    expect(await contents(store)).toEqual(all);
  });

  test("numbers writes without gaps, including concurrent ones", async () => {
    const store = await open(fresh());
    const writes = Array.from({ length: 20 }, (_, index) =>
      store.commit([[touch(`d${index}`, "u")]]),
    );
    expect(await Promise.all(writes)).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
    expect(store.sequence).toBe(20);
  });

  test("makes the writes of a commit in order, each with a number", async () => {
    const store = await open(fresh());
    const writes = [
      [create("d", "u"), touch("e", "u")],
      [remove("d", "u")],
      [create("d", "u"), remove("d", "v")],
      [remove("e", "u"), touch("d", "u")],
      [create("f", "u")],
      [remove("f", "u")],
    ];
    expect(await store.commit(writes)).toBe(6);
    expect(await contents(store)).toEqual(["d@user:u"]);
    const changes = await store.changesAfter(0, 10);
    expect(changes).toEqual(writes.map((updates, index) => ({ sequence: index + 1, updates })));
  });

  test.each([
    ["that exists", [[create("e", "u")], [create("d", "u")], [create("f", "u")]]],
    ["that the same commit has created", [[create("e", "u")], [create("e", "u")]]],
    ["that the same commit has touched", [[touch("e", "u")], [create("e", "u")]]],
  ])("a CREATE of one %s fails the whole commit", async (_, writes) => {
    const store = await open(fresh());
    await store.commit([[create("d", "u")]]);
    await expect(store.commit(writes)).rejects.toMatchObject({ code: "UNAVAILABLE" });
    // Nothing is committed until the outcome of this commit is known.
    await expect(store.commit([[touch("g", "u")]])).rejects.toMatchObject({ code: "UNAVAILABLE" });
    await store.recover();
    expect(store.sequence).toBe(1);
    expect(await contents(store)).toEqual(["d@user:u"]);
    expect(await store.changesAfter(0, 10)).toHaveLength(1);
    expect(await store.commit([[remove("d", "u")]])).toBe(2);
  });

  test("commits a write of a thousand updates, and removes them again", async () => {
    const store = await open(fresh());
    const ids = Array.from({ length: 1000 }, (_, index) => `d${index}`);
    await store.commit([ids.map((id) => create(id, "u"))]);
    expect(await contents(store)).toHaveLength(1000);
    await store.commit([ids.slice(1).map((id) => remove(id, "u"))]);
    expect(await contents(store)).toEqual(["d0@user:u"]);
  });

  test("loads more than one batch, each relationship once", async () => {
    const store = await open(fresh());
    for (let write = 0; write < 21; write++) {
      await store.commit([
        Array.from({ length: 1000 }, (_, index) => touch(`d${write}`, `u${index}`)),
      ]);
    }
    const sizes: number[] = [];
    for await (const batch of store.load()) sizes.push(batch.length);
    expect(sizes).toEqual([10_000, 10_000, 1000]);
    expect(new Set(await contents(store)).size).toBe(21_000);
  });

  test("a load sees one state, and may be ended early", async () => {
    const store = await open(fresh());
    for (let write = 0; write < 11; write++) {
      await store.commit([
        Array.from({ length: 1000 }, (_, index) => touch(`d${write}`, `u${index}`)),
      ]);
    }
    let count = 0;
    for await (const batch of store.load()) {
      count += batch.length;
      await store.commit([[touch("z", `later${count}`)]]);
    }
    expect(count).toBe(11_000);
    for await (const _ of store.load()) break;
    await store.commit([[touch("z", "last")]]);
  });

  test("a failed write leaves nothing behind, and recover makes it usable again", async () => {
    const target = fresh();
    const store = await open(target);
    await store.commit([[create("d1", "alice")]]);
    // A constraint refuses the existing relationship, after the other updates were made.
    const failing = [remove("d1", "alice"), create("d2", "bob"), create("d3", "eve")];
    await store.commit([[create("d3", "eve")]]);
    await expect(store.commit([failing])).rejects.toMatchObject({ code: "UNAVAILABLE" });
    await expect(store.commit([[touch("d4", "x")]])).rejects.toMatchObject({ code: "UNAVAILABLE" });
    await store.recover();
    expect(store.sequence).toBe(2);
    expect(await contents(store)).toEqual(["d1@user:alice", "d3@user:eve"]);
    expect(await store.commit([[touch("d4", "x")]])).toBe(3);
    expect((await store.changesAfter(0, 10))?.map((change) => change.sequence)).toEqual([1, 2, 3]);
  });

  test("returns the changes after a number", async () => {
    const store = await open(fresh());
    const updates = [touch("d1", "u"), update("DELETE", "é", "g", "member")];
    await store.commit([updates]);
    await store.commit([[]]);
    await store.commit([[create("d2", "u")]]);
    expect(await store.changesAfter(0, 2)).toEqual([
      { sequence: 1, updates },
      { sequence: 2, updates: [] },
    ]);
    expect((await store.changesAfter(2, 10))?.map(({ sequence }) => sequence)).toEqual([3]);
    expect(await store.changesAfter(3, 10)).toEqual([]);
  });

  test("keeps only the last changes, and reports if some are gone", async () => {
    const target = fresh();
    const store = await open(target, { retention: 5 });
    for (let write = 0; write < 300; write++) await store.commit([[touch("d", `u${write}`)]]);
    expect(await store.changesAfter(294, 10)).toBeUndefined();
    expect(await store.changesAfter(295, 10)).toHaveLength(5);
    await store.close();
    // Removed changes do not come back with a longer retention.
    const longer = await open(target, { retention: 1000 });
    expect(await longer.changesAfter(0, 10)).toBeUndefined();
    expect(await longer.changesAfter(290, 100)).toHaveLength(10);
  });

  test("has the same id when it is opened again, and another id elsewhere", async () => {
    const target = fresh();
    const store = await open(target);
    await store.commit([[touch("d", "u")]]);
    await store.close();
    await store.close();
    await expect(store.commit([[touch("d", "v")]])).rejects.toMatchObject({ code: "UNAVAILABLE" });
    const again = await open(target);
    expect(again.id).toBe(store.id);
    expect(again.sequence).toBe(1);
    expect(await contents(again)).toEqual(["d@user:u"]);
    expect((await open(fresh())).id).not.toBe(store.id);
  });

  test("recover does not change a working store", async () => {
    const store = await open(fresh());
    await store.commit([[touch("d", "u")]]);
    await store.recover();
    expect(await store.commit([[touch("d", "v")]])).toBe(2);
  });

  test("one process holds it, which the refusal names", async () => {
    const target = fresh();
    const store = await open(target);
    const child = startChild(target, "hold");
    const { value } = await child.lines.next();
    await kill(child);
    expect(value).toMatch(/^error FAILED_PRECONDITION the .*store .* is held by process/);
    expect(value).toContain(`process ${process.pid} on ${hostname()} since 20`);
    await expect(openTarget(target)).rejects.toMatchObject({ code: "FAILED_PRECONDITION" });
    await store.commit([[touch("d", "u")]]);
  });

  test("a killed holder releases it", async () => {
    const target = fresh();
    const child = startChild(target, "hold");
    expect(await child.lines.next()).toMatchObject({ value: "open 0" });
    await expect(openTarget(target)).rejects.toThrow(`held by process ${child.process.pid} on`);
    await kill(child);
    opened.push(await openSoon(target));
  });

  test(`no acknowledged write is lost when the writer is killed ${KILLS} times`, async () => {
    const target = fresh();
    let before = 0;
    for (let round = 0; round < KILLS; round++) {
      const child = startChild(target, "write");
      expect(await child.lines.next()).toMatchObject({ value: `open ${before}` });
      let acknowledged = before;
      const end = Date.now() + 20 + Math.random() * 100;
      while (Date.now() < end) acknowledged = Number((await child.lines.next()).value);
      const killed = kill(child);
      for await (const line of { [Symbol.asyncIterator]: () => child.lines }) {
        acknowledged = Number(line);
      }
      await killed;
      const store = await openSoon(target);
      // At most one write was committed without an acknowledgement.
      expect(acknowledged).toBeGreaterThan(before);
      expect(store.sequence - acknowledged).toBeOneOf([0, 1]);
      const found = new Set(await contents(store));
      expect(found.size).toBe(2 * store.sequence);
      for (let write = 1; write <= store.sequence; write++) {
        expect(found.has(`w${write}@user:left`) && found.has(`w${write}@user:right`)).toBe(true);
      }
      const changes = await store.changesAfter(before, 1_000_000);
      expect(changes?.map(({ sequence }) => sequence)).toEqual(
        Array.from({ length: store.sequence - before }, (_, index) => before + index + 1),
      );
      before = store.sequence;
      await store.close();
    }
  });
}
