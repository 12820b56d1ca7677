import fc from "fast-check";
import { expect, test } from "vitest";
import {
  BucketBudget,
  BucketTable,
  TokenBucket,
} from "../../../src/runtime/rate-limit/bucket-table.ts";

const SECOND = 1_000_000;

test("gives each caller the same as a separate bucket, whenever the table turns", () => {
  const step = fc.record({
    key: fc.constantFrom("a", "b", "c"),
    elapsed: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 5 * SECOND })),
  });
  const rate = fc
    .tuple(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 0, max: 3 }))
    .map(([qps, more]) => ({ qps, burst: qps + more }));
  fc.assert(
    fc.property(rate, fc.array(step, { maxLength: 100 }), (rate, steps) => {
      const table = new BucketTable(rate, new BucketBudget(100), 0);
      const own = new Map<string, TokenBucket>();
      let now = 0;
      for (const { key, elapsed } of steps) {
        now += elapsed;
        if (!own.has(key)) own.set(key, new TokenBucket(rate, now));
        expect(table.of(key, now).take(now)).toBe(own.get(key)?.take(now));
      }
    }),
    { numRuns: 500 },
  );
});

test("a flood of names refills no bucket", () => {
  const rate = { qps: 1, burst: 2 };
  const table = new BucketTable(rate, new BucketBudget(1000), 0);
  const take = (key: string, now: number) => table.of(key, now).take(now);
  expect([take("alice", 0), take("alice", 0), take("alice", 0)]).toEqual([true, true, false]);
  for (let count = 0; count < 50_000; count++) take(`flood ${count}`, 1);
  expect(take("alice", 1)).toBe(false);
  expect(take("alice", SECOND)).toBe(true);
  expect(take("alice", SECOND)).toBe(false);
});

test("repeated floods of a full table refill no bucket either", () => {
  const table = new BucketTable({ qps: 1, burst: 10 }, new BucketBudget(50), 0);
  const take = (key: string, now: number) => table.of(key, now).take(now);
  for (let count = 0; count < 10; count++) expect(take("alice", 0)).toBe(true);
  expect(take("alice", 0)).toBe(false);
  for (const now of [1, 1_100_000, 2_200_000]) {
    for (let count = 0; count < 200; count++) take(`flood ${now} ${count}`, now);
  }
  expect([1, 2, 3].map(() => take("alice", 2_200_000))).toEqual([true, true, false]);
});

test("a caller that comes while there is no room is limited as well, even once there is room", () => {
  const table = new BucketTable({ qps: 1, burst: 2 }, new BucketBudget(10), 0);
  const take = (key: string, now: number) => table.of(key, now).take(now);
  for (let count = 0; count < 10; count++) take(`early ${count}`, 0);
  expect([take("late", 0), take("late", 0), take("late", 0)]).toEqual([true, true, false]);
  // The table turns twice within four seconds, so that there is room; one token was added since, not a full bucket.
  let taken = 0;
  for (let now = 0; now <= 9 * SECOND; now += 100_000) if (take("late", now)) taken++;
  expect(taken).toBe(9);
});

test("frees exactly the memory that it took, however it turns", () => {
  const budget = new BucketBudget(100);
  const tables = [1, 2].map((burst) => new BucketTable({ qps: 1, burst }, budget, 0)) as [
    BucketTable,
    BucketTable,
  ];
  let now = 0;
  // Half of the fill time, one, more than one, two, and far more.
  for (const elapsed of [500_000, SECOND, 1_300_000, 2 * SECOND, 700_000, 9 * SECOND, 1, SECOND]) {
    now += elapsed;
    for (const table of tables) {
      // Some are used again after the table has turned, some once.
      for (const key of ["a", "b", "c", `${now}`, `${now} more`]) table.of(key, now).take(now);
    }
  }
  now += 60 * SECOND;
  for (const table of tables) table.turn(now);
  let room = 0;
  while (room < 1000 && budget.take(now)) room++;
  expect(room).toBe(100);
});

test("uses at most its budget, and frees full buckets", () => {
  const budget = new BucketBudget(100);
  const first = new BucketTable({ qps: 1, burst: 1 }, budget, 0);
  const second = new BucketTable({ qps: 1, burst: 1 }, budget, 0);
  const own = new Set<TokenBucket>();
  for (let count = 0; count < 100; count++) own.add(first.of(`${count}`, 0));
  expect(own.size).toBe(100);
  // There is no room in either: new callers share buckets.
  const shared = new Set<TokenBucket>();
  for (let count = 0; count < 100_000; count++) shared.add(second.of(`${count}`, 0));
  expect(shared.size).toBeLessThanOrEqual(1024);
  // And they are spread evenly, so that few names share one.
  expect(shared.size).toBeGreaterThan(1000);
  // The first table is no longer used, and yet its memory is freed.
  const later = 3 * SECOND;
  const bucket = second.of("new", later);
  expect(second.of("new", later)).toBe(bucket);
  const others = new Set<TokenBucket>();
  for (let count = 0; count < 99; count++) others.add(second.of(`other ${count}`, later));
  expect(others.size).toBe(99);
});
