import { describe, expect, test } from "vitest";
import type { RouteEntry } from "../../../src/runtime/registry/index.ts";
import { RouteTable } from "../../../src/runtime/registry/route-table.ts";
import { entryOf } from "./documents.ts";

const published = (instance: string, entry: RouteEntry) => ({
  instance,
  entry,
  text: JSON.stringify(entry),
});
const get = entryOf("Get");
const list = entryOf("List");

/** A table with the entries of two instances. */
function tableOf(): RouteTable {
  const table = new RouteTable();
  table.put("list/b", published("b", list));
  table.put("get/b", published("b", get));
  table.put("get/a", published("a", get));
  return table;
}

const reported = (table: RouteTable) =>
  table.routes().map(({ entry, instances }) => `${entry.rpc.split("/")[1]} ${instances.join()}`);

test("routes are the union over the instances, sorted", () => {
  expect(tableOf().routes()).toEqual([
    { entry: get, instances: ["a", "b"] },
    { entry: list, instances: ["b"] },
  ]);
  expect(new RouteTable().routes()).toEqual([]);
});

test("routes have the same order, however they arrived", () => {
  for (const order of ["abc", "acb", "bac", "bca", "cab", "cba"]) {
    const table = new RouteTable();
    for (const method of order) table.put(method, published("x", entryOf(method)));
    expect(reported(table)).toEqual(["a x", "b x", "c x"]);
  }
});

test("different entries of an RPC are separate routes", () => {
  const table = tableOf();
  table.put("get/c", published("c", entryOf("Get", { exposure: "PUBLIC" })));
  table.put("get/d", published("d", entryOf("Get", { service: "other" })));
  expect(reported(table)).toHaveLength(4);
});

describe("whether the union may have changed", () => {
  test.each<[string, (table: RouteTable) => boolean, boolean]>([
    ["a new key", (table) => table.put("new", published("c", get)), true],
    ["the same again", (table) => table.put("get/a", published("a", get)), false],
    ["another entry", (table) => table.put("get/a", published("a", list)), true],
    ["a removed key", (table) => table.delete("get/a"), true],
    ["removal of an unknown key", (table) => table.delete("get/z"), false],
  ])("%s: %#", (_, change, expected) => {
    expect(change(tableOf())).toBe(expected);
  });
});

describe("an entry that is missing in a reading", () => {
  const reread = () => {
    const table = tableOf();
    table.keepOnly(new Set(["get/a", "other"]));
    return table;
  };

  test("stays until it is confirmed to be removed", () => {
    const table = reread();
    expect(table.hasMissing).toBe(true);
    expect(reported(table)).toEqual(["Get a,b", "List b"]);
    table.deleteMissing();
    expect(table.hasMissing).toBe(false);
    expect(reported(table)).toEqual(["Get a"]);
  });

  test("and returns in the meantime is not removed", () => {
    const table = reread();
    table.put("get/b", published("b", get));
    expect(table.hasMissing).toBe(true);
    table.deleteMissing();
    expect(reported(table)).toEqual(["Get a,b"]);
  });

  test("and is deleted in the meantime is no longer missing", () => {
    const table = reread();
    table.delete("get/b");
    table.delete("list/b");
    expect(table.hasMissing).toBe(false);
    expect(reported(table)).toEqual(["Get a"]);
  });

  test("does not exist if all are in the reading", () => {
    const table = tableOf();
    table.keepOnly(new Set(["get/a", "get/b", "list/b"]));
    expect(table.hasMissing).toBe(false);
  });
});
