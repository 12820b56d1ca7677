import { expect, test } from "vitest";
import { quoted, remembered } from "../../../../src/runtime/observers/access-log/access-line.ts";

test.each([
  ["", '""'],
  ["/v1/x", '"/v1/x"'],
  ["12345678", '"12345678"'],
  ["123456789", '"12345678…"'],
  ['a"b', '"a\\"b"'],
  ["a\\b", '"a\\\\b"'],
  // On one line even after JSON decoding.
  ["a\nb\tc", '"a\\\\nb\\\\tc"'],
  ["\u001b[2J", '"\\\\u001b[2J"'],
  ["漢字", '"漢字"'],
])("%j is written as %s, of at most 8 characters", (text, expected) => {
  expect(quoted(text, 8)).toBe(expected);
});

/** Does its work, and counts the calls. */
function counted(maxTexts: number) {
  const worked: string[] = [];
  const work = remembered((text) => {
    worked.push(text);
    return `<${text}>`;
  }, maxTexts);
  return { work, worked };
}

test("repeated texts are computed once", () => {
  const { work, worked } = counted(2);
  for (const text of ["a", "b", "a", "b"]) expect(work(text)).toBe(`<${text}>`);
  expect(worked).toEqual(["a", "b"]);
});

test("the number of cached texts is limited", () => {
  const { work, worked } = counted(2);
  for (const text of ["a", "b", "c", "c", "a", "b"]) work(text);
  expect(worked).toEqual(["a", "b", "c", "a", "b"]);
});

test.each([
  [256, 1],
  [257, 2],
])("a text of %i characters is computed %i times for two calls", (length, times) => {
  const { work, worked } = counted(2);
  for (let count = 0; count < 2; count++) work("x".repeat(length));
  expect(worked).toHaveLength(times);
});
