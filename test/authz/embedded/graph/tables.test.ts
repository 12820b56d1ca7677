import fc from "fast-check";
import { expect, it } from "vitest";
import { NodeMemo, NumberSet } from "../../../../src/authz/embedded/graph/epoch-tables.ts";
import { IdTable } from "../../../../src/authz/embedded/graph/id-table.ts";
import { IntLists } from "../../../../src/authz/embedded/graph/int-lists.ts";
import { PairTable } from "../../../../src/authz/embedded/graph/pair-table.ts";
import { runs } from "../../../support/effort.ts";

it.each<[what: string, id: unknown]>([
  ["nothing", undefined],
  ["null", null],
  ["a number", 1],
  ["another id", "b"],
  ["a prefix", "a"],
  ["an id with a suffix", "a\u00e9\u{1f600}!"],
])("an id table does not find %s", (_, id) => {
  const table = new IdTable();
  table.add("a\u00e9\u{1f600}", 7);
  expect(table.find(id as string)).toBe(-1);
});

it("an id table finds all ids, and returns them", () => {
  const table = new IdTable();
  const ids = [
    "",
    "\u{1f600}".repeat(100),
    "x".repeat(70_000),
    ...Array.from({ length: 50_000 }, (_, index) => `id${index * 7}`),
  ];
  const places = ids.map((id, number) => table.add(id, number * 40));
  ids.forEach((id, number) => {
    expect(table.find(id)).toBe(number * 40);
    expect(table.idAt(places[number] as number)).toBe(id);
  });
});

it("lists of integers keep what is pushed, after removals too", () => {
  fc.assert(
    fc.property(fc.gen(), (gen) => {
      const lists = new IntLists();
      const naive: number[][] = [[], [], []];
      lists.reserve(naive.length);
      for (let step = 0; step < 300; step++) {
        const list = gen(fc.nat, { max: 2 });
        const items = naive[list] as number[];
        if (items.length > 0 && gen(fc.nat, { max: 9 }) < 4) {
          const position = gen(fc.nat, { max: items.length - 1 });
          const last = items.pop() as number;
          if (position < items.length) items[position] = last;
          expect(lists.swapRemove(list, position)).toBe(position < items.length ? last : -1);
        } else {
          expect(lists.push(list, step)).toBe(items.length);
          items.push(step);
        }
        naive.forEach((items, list) => {
          expect(lists.length(list)).toBe(items.length);
          expect(items.map((_, position) => lists.item(list, position))).toEqual(items);
          expect(lists.includes(list, step)).toBe(items.includes(step));
        });
      }
    }),
    { numRuns: runs(30) },
  );
});

it("a set of numbers and a memo are empty after clear", () => {
  const set = new NumberSet();
  const memo = new NodeMemo();
  for (const count of [10, 5000, 3]) {
    set.clear();
    memo.clear();
    for (let item = 0; item < count; item++) {
      expect(set.add(item * 3)).toBe(true);
      expect(set.add(item * 3)).toBe(false);
      expect(memo.get(item, -item)).toBe(-1);
      memo.set(item, -item, item);
    }
    for (let item = 0; item < count; item++) {
      expect(set.at(item)).toBe(item * 3);
      expect(set.has(item * 3 + 1)).toBe(false);
      expect(memo.get(item, -item)).toBe(item);
    }
    memo.forget(1, -1);
    expect(memo.get(1, -1)).toBe(-1);
    expect(set.size).toBe(count);
  }
});

it("a table of pairs reuses the numbers of removed pairs", () => {
  const table = new PairTable();
  for (let index = 0; index < 5000; index++) expect(table.add(index, index * 2)).toBe(index);
  expect(table.add(3, 6)).toBe(-1);
  for (let index = 0; index < 5000; index += 2) table.remove(index);
  for (let index = 0; index < 5000; index++) {
    expect(table.find(index, index * 2)).toBe(index % 2 === 0 ? -1 : index);
  }
  expect(table.add(9, 9) % 2).toBe(0);
  expect(table.size).toBe(2501);
});
