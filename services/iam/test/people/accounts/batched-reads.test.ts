import { expect, test } from "vitest";
import { BatchedReads } from "../../../src/people/accounts/batched-reads.ts";

/** Records, and the queries that were made. */
function records(stored: Readonly<Record<string, string>>) {
  const queries: (readonly string[])[] = [];
  const values = new Map(Object.entries(stored));
  const reads = new BatchedReads<string>(async (ids) => {
    queries.push(ids);
    return new Map([...values].filter(([id]) => ids.includes(id)));
  });
  return { queries, reads, values };
}

test("reads of one turn are one query, which has each id once, and each gets its own record", async () => {
  const { queries, reads } = records({ a: "A", b: "B" });
  const found = await Promise.all(["a", "b", "a", "none"].map((id) => reads.find(id)));
  expect(found).toEqual(["A", "B", "A", undefined]);
  expect(queries).toEqual([["a", "b", "none"]]);
});

test("a read that begins after a write sees it, also while an earlier query runs", async () => {
  const running: (() => void)[] = [];
  let stored = "before";
  const begun: (() => void)[] = [];
  const reads = new BatchedReads<string>((ids) => {
    const now = stored;
    begun.shift()?.();
    return new Promise((resolve) =>
      running.push(() => resolve(new Map(ids.map((id) => [id, now])))),
    );
  });
  const nextQuery = () => new Promise<void>((resolve) => begun.push(resolve));
  let query = nextQuery();
  const first = reads.find("a");
  await query;
  stored = "after";
  query = nextQuery();
  const second = reads.find("a");
  await query;
  for (const end of running) end();
  expect([await first, await second]).toEqual(["before", "after"]);
});

test("a query has at most 32 ids", async () => {
  const { queries, reads } = records({ "40": "last" });
  const ids = Array.from({ length: 70 }, (_, index) => String(index));
  const found = await Promise.all(ids.map((id) => reads.find(id)));
  expect(found[40]).toBe("last");
  expect(queries.map(({ length }) => length)).toEqual([32, 32, 6]);
});

test("an error is that of all reads of its query, and of no later one", async () => {
  let isDown = true;
  const reads = new BatchedReads<string>(async (ids) => {
    if (isDown) throw new Error("the database is down");
    return new Map(ids.map((id) => [id, id]));
  });
  const results = await Promise.allSettled([reads.find("a"), reads.find("b")]);
  expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  isDown = false;
  expect(await reads.find("a")).toBe("a");
});

test("a query that throws at once is an error of its reads, not of the process", async () => {
  const reads = new BatchedReads<string>(() => {
    throw new TypeError("a mistake");
  });
  await expect(reads.find("a")).rejects.toThrow("a mistake");
});
