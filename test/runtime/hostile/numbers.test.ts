import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { HOSTILE_INPUTS } from "./numbers.ts";

/** A title or the name of a case: a text that begins with numbers, such as `"5, 6 dots …"`. */
const TITLE = /["'`]((?:[0-9]{1,2}, )*[0-9]{1,2}) [^"'`]*["'`]/g;

test("every number of the list is the first word of a test", () => {
  const found = new Map<number, Set<string>>();
  for (const name of readdirSync(import.meta.dirname)) {
    if (!/(?:\.test|-cases)\.ts$/.test(name)) continue;
    const text = readFileSync(`${import.meta.dirname}/${name}`, "utf8");
    for (const [, numbers = ""] of text.matchAll(TITLE)) {
      for (const number of numbers.split(", ")) {
        const files = found.get(Number(number)) ?? new Set();
        found.set(Number(number), files.add(name));
      }
    }
  }
  const table = Object.keys(HOSTILE_INPUTS).map((number) => {
    return { number: Number(number), files: [...(found.get(Number(number)) ?? [])].sort() };
  });
  expect(table.filter(({ files }) => files.length === 0)).toEqual([]);
  expect([...found.keys()].filter((number) => !(number in HOSTILE_INPUTS))).toEqual([]);
});
