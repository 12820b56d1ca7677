import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { literal, propertyKey, uniqueName } from "../../src/emit/source-text.ts";

/** What the text means to JavaScript. */
function evaluate(text: string): unknown {
  return new Function(`return ${text};`)();
}

describe("literal", () => {
  test("means the data that it was made of, and freezes it", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
        fc.pre(value !== null && JSON.stringify(value).includes("null") === false);
        const evaluated = evaluate(literal(value, 0));
        expect(JSON.stringify(evaluated)).toBe(JSON.stringify(value));
        expect(Object.isFrozen(evaluated)).toBe(true);
      }),
    );
  });

  test("breaks lines that grow too long", () => {
    const lines = literal({ long: "x".repeat(60), longer: "y".repeat(60) }, 0).split("\n");
    expect(lines).toHaveLength(4);
    expect(lines[0]).toBe("Object.freeze({");
    expect(lines[1]?.startsWith("  long: ")).toBe(true);
  });

  test("does not let text out of its quotes", () => {
    expect(evaluate(literal('"; process.exit(1); "', 0))).toBe('"; process.exit(1); "');
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
