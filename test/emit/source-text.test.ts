import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { literal, propertyKey, uniqueName } from "../../src/emit/source-text.ts";

/** The value of the text in JavaScript. */
function evaluate(text: string): unknown {
  return new Function(`return ${text};`)();
}

describe("literal", () => {
  test("evaluates to its data, in every layout", () => {
    fc.assert(
      fc.property(
        fc.jsonValue({ maxDepth: 4 }),
        fc.boolean(),
        fc.nat(90),
        (value, isOpen, before) => {
          fc.pre(value !== null && JSON.stringify(value).includes("null") === false);
          const evaluated = evaluate(literal(value, { depth: 0, isOpen, before }));
          expect(JSON.stringify(evaluated)).toBe(JSON.stringify(value));
        },
      ),
    );
  });

  test("keeps its lines within the columns", () => {
    const texts = fc.string({ maxLength: 40, unit: fc.constantFrom("a", "b") });
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 3 },
        texts,
        fc.array(tie("value")),
        fc.dictionary(texts, tie("value")),
      ),
    }));
    fc.assert(
      fc.property(value, (data) => {
        const lines = `const data = ${literal(data as object, { depth: 0, before: 13 })};`.split(
          "\n",
        );
        for (const line of lines) expect(line.length).toBeLessThanOrEqual(100);
      }),
    );
  });

  test("is on one line if that fits, with the text before and after it", () => {
    const data = { list: ["a".repeat(20), "b".repeat(20)], empty: [], none: {} };
    const line = `{ list: ["${"a".repeat(20)}", "${"b".repeat(20)}"], empty: [], none: {} }`;
    expect(literal(data, { depth: 0, before: 99 - line.length })).toBe(line);
    expect(literal(data, { depth: 1, before: 100 - line.length })).toBe(
      `{\n    list: ["${"a".repeat(20)}", "${"b".repeat(20)}"],\n    empty: [],\n    none: {},\n  }`,
    );
  });

  test("has a line for each item if it is open, and a separate line for a long string", () => {
    expect(literal({ a: 1, b: { c: 2 } }, { depth: 0, isOpen: true })).toBe(
      "{\n  a: 1,\n  b: { c: 2 },\n}",
    );
    expect(literal({}, { depth: 0, isOpen: true })).toBe("{}");
    const long = "x".repeat(95);
    expect(literal({ long }, { depth: 0 })).toBe(`{\n  long:\n    "${long}",\n}`);
  });

  test("keeps text inside its quotes", () => {
    const text = '"; process.exit(1); "';
    expect(evaluate(literal(text, { depth: 0 }))).toBe(text);
  });
});

describe("propertyKey", () => {
  test.each([
    ["getSkill", "getSkill"],
    ["a-b", '"a-b"'],
    ["0", '"0"'],
    ["", '""'],
    ["__proto__", '["__proto__"]'],
  ])("%j is %s", (name, key) => {
    expect(propertyKey(name)).toBe(key);
  });
});

describe("uniqueName", () => {
  test("gives each its own", () => {
    const taken = new Set<string>();
    expect(["a", "a", "b", "a"].map((name) => uniqueName(name, taken))).toEqual([
      "a",
      "a$",
      "b",
      "a$$",
    ]);
  });
});
