import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { ROOT } from "../../support/workspace.ts";
import { HOSTILE_INPUTS, HOSTILE_LOGINS } from "./numbers.ts";

/** A title or the name of a case: a text that begins with numbers, such as `"5, 6 dots …"`. */
const TITLE = /["'`]((?:[0-9]{1,2}, )*[0-9]{1,2}):? [^"'`]*["'`]/g;

/** The numbers that titles in a folder begin with, with the files of each. */
function numbersIn(folder: string): Map<number, Set<string>> {
  const found = new Map<number, Set<string>>();
  for (const name of readdirSync(folder, { encoding: "utf8", recursive: true })) {
    if (!/(?:\.test|-cases)\.ts$/.test(name)) continue;
    const text = readFileSync(`${folder}/${name}`, "utf8");
    for (const [, numbers = ""] of text.matchAll(TITLE)) {
      for (const number of numbers.split(", ")) {
        const files = found.get(Number(number)) ?? new Set();
        found.set(Number(number), files.add(name));
      }
    }
  }
  return found;
}

test("every number of the list is the first word of a test", () => {
  const found = numbersIn(import.meta.dirname);
  const table = Object.keys(HOSTILE_INPUTS).map((number) => {
    return { number: Number(number), files: [...(found.get(Number(number)) ?? [])].sort() };
  });
  expect(table.filter(({ files }) => files.length === 0)).toEqual([]);
  expect([...found.keys()].filter((number) => !(number in HOSTILE_INPUTS))).toEqual([]);
});

test("every number of a login is the first word of a test of svc-iam", () => {
  const found = numbersIn(`${ROOT}/services/iam/test`);
  const missing = Object.keys(HOSTILE_LOGINS).filter((number) => !found.has(Number(number)));
  expect(missing).toEqual([]);
  expect(Object.keys(HOSTILE_LOGINS).filter((number) => number in HOSTILE_INPUTS)).toEqual([]);
});
