import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseUniqueJson } from "../../src/common/scan-json.ts";

describe("refuses", () => {
  test.each([
    ["", "Unexpected end"],
    ["{", "in JSON"],
    ['{"a": 1,}', "in JSON"],
    ['{"a": 1, "a": 1}', "a key occurs twice"],
    ['{"a": 1, "a": 2}', "a key occurs twice"],
    ['{"a": {}, "b": [{"c": 1, "d": 2, "c": 3}]}', "a key occurs twice"],
    ['{"s": 1, "\\u0073": 2}', "a key occurs twice"],
    ['{"": 1, "": 2}', "a key occurs twice"],
    ['{"__proto__": 1, "__proto__": 2}', "a key occurs twice"],
    ['{"1": 1, "1": 2}', "a key occurs twice"],
  ])("%s", (text, message) => {
    expect(() => parseUniqueJson(text)).toThrow(SyntaxError);
    expect(() => parseUniqueJson(text)).toThrow(message);
  });
});

test("finds it at any depth", () => {
  const deep = `{"a": ${"[".repeat(50_000)}${"]".repeat(50_000)}, "a": 1}`;
  expect(() => parseUniqueJson(deep)).toThrow("a key occurs twice");
});

test.each([
  '{"a": {"a": {"a": 1}}, "b": [{"a": 1}, {"a": 2}]}',
  '{"a\\": 1, \\"a": ":", "b": "{\\"c\\": 1, \\"c\\": 2}", "c": "\\\\"}',
  '{"__proto__": {"a": 1}, "a": 2}',
  '{"ü": ":ü:", "\\ud83d": 1}',
  " [ ] ",
  '"a:b"',
])("reads %s", (text) => {
  expect(JSON.stringify(parseUniqueJson(text))).toBe(JSON.stringify(JSON.parse(text)));
});

/** JSON as text, whose keys may occur twice, and whether one does. */
interface Written {
  readonly text: string;
  readonly isTwice: boolean;
}

const { written } = fc.letrec<{ written: Written }>((tie) => ({
  written: fc.oneof(
    { maxDepth: 4 },
    fc
      .constantFrom('":"', "1", "null", '"\\"a\\":"', "[]", "{}")
      .map((text) => ({ text, isTwice: false })),
    fc.array(tie("written"), { maxLength: 3 }).map((items) => ({
      text: `[${items.map(({ text }) => text).join(" , ")}]`,
      isTwice: items.some(({ isTwice }) => isTwice),
    })),
    fc
      .array(fc.tuple(fc.constantFrom("a", "b", ":", "\\u0061", '\\"'), tie("written")), {
        maxLength: 4,
      })
      .map((entries) => ({
        text: `{${entries.map(([key, { text }]) => `"${key}" :${text}`).join(",")}}`,
        isTwice:
          entries.some(([, { isTwice }]) => isTwice) ||
          new Set(entries.map(([key]) => JSON.parse(`"${key}"`))).size < entries.length,
      })),
  ),
}));

test("finds exactly the keys that occur twice", () => {
  fc.assert(
    fc.property(written, ({ text, isTwice }) => {
      if (isTwice) expect(() => parseUniqueJson(text)).toThrow("a key occurs twice");
      else expect(parseUniqueJson(text)).toEqual(JSON.parse(text));
    }),
    { numRuns: 1000 },
  );
});
