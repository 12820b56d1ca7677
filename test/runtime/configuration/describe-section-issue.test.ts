/** What is said of values that the schema of a section refuses. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import * as three from "zod/v3";
import type { StandardSchema } from "../../../src/runtime/configuration/standard-schema.ts";
import { MINIMAL, problemsOf } from "./sample.ts";

/** What is reported for a value of the key of a section; nothing if it is valid. */
function problemsFor(schema: StandardSchema, yaml: string): readonly string[] {
  return problemsOf(`${MINIMAL}notes: ${yaml}\n`, { sections: { notes: schema } });
}

const OBJECTS = { four: z.object, three: three.object } as const;

describe("zod says it in terms of YAML", () => {
  test.each<[string, z.ZodType, string, string]>([
    ["a bound that is excluded", z.number().positive(), "0", "must be more than 0"],
    ["a lower bound", z.number().min(0), "-1", "must be at least 0"],
    ["an upper bound that is excluded", z.number().lt(10), "10", "must be less than 10"],
    ["an upper bound", z.number().max(10), "11", "must be at most 10"],
    ["a length", z.string().min(2), "a", "must have at least 2 characters"],
    ["a multiple", z.number().multipleOf(5), "7", "must be a multiple of 5"],
    ["a check of its own without a message", z.number().refine(() => false), "7", "is not valid"],
    ["a check of its own", z.number().refine(() => false, "must be odd"), "2", "must be odd"],
    ["an enumeration", z.enum(["a", "b"]), "c", "must be one of a, b"],
    ["a union", z.union([z.number(), z.boolean()]), "x", "is not valid"],
    ["a pattern", z.string().regex(/^[a-z]+$/), "A1", "is not valid"],
  ])("%s", (_, schema, yaml, why) => {
    const found = problemsFor(OBJECTS.four({ size: schema }), `{size: ${yaml}}`);
    expect(found).toEqual([`6:9 notes.size ${why}`]);
  });

  test.each<[string, z.ZodType, string, string]>([
    ["wait_seconds", z.number(), "x", "must be a number of seconds, not text"],
    ["wait_seconds", z.int(), "1.5", "must be a whole number of seconds"],
    ["keep_days", z.number(), "''", "must be a number of days, not empty text"],
    ["max_bytes", z.number(), "x", "must be a whole number of bytes, not text"],
    ["ratio", z.number(), "x", "must be a number, not text"],
    ["count", z.int(), "1.5", "must be a whole number"],
  ])("a number at %s", (key, schema, yaml, why) => {
    const found = problemsFor(OBJECTS.four({ [key]: schema }), `{${key}: ${yaml}}`);
    expect(found).toEqual([`6:9 notes.${key} ${why}`]);
  });
});

describe("zod 3 says it too", () => {
  test.each<[string, three.ZodType, string, string]>([
    ["a union", three.union([three.number(), three.boolean()]), "x", "is not valid"],
    ["an enumeration", three.enum(["a", "b"]), "c", "must be one of a, b"],
    ["a literal", three.literal("a"), "c", "is not valid"],
    ["an address", three.string().email(), "c", "is not valid"],
  ])("%s", (_, schema, yaml, why) => {
    const found = problemsFor(OBJECTS.three({ size: schema }), `{size: ${yaml}}`);
    expect(found).toEqual([`6:9 notes.size ${why}`]);
  });
});

test("what other libraries say is as it is", () => {
  const message = "Invalid type: Expected number but received text";
  const schema: StandardSchema = {
    "~standard": { version: 1, vendor: "other", validate: () => ({ issues: [{ message }] }) },
  };
  expect(problemsFor(schema, "{}")).toEqual([`6:1 notes ${message}`]);
});

const CODES = [
  "invalid_type",
  "invalid_value",
  "invalid_enum_value",
  "too_small",
  "too_big",
  "not_multiple_of",
  "invalid_format",
  "invalid_union",
  "invalid_key",
  "invalid_element",
  "unrecognized_keys",
  "custom",
];
const step = fc.oneof(fc.string(), fc.nat(), fc.constant(null), fc.constant({ key: Symbol("a") }));
const oddIssue = fc.record(
  {
    message: fc.oneof(fc.constant("Invalid input"), fc.string(), fc.constant(undefined)),
    path: fc.option(fc.array(step, { maxLength: 3 }), { nil: undefined }),
    code: fc.oneof(fc.constantFrom(...CODES), fc.anything()),
    ...Object.fromEntries(
      ["errors", "issues", "values", "options", "minimum", "origin", "expected", "keys"].map(
        (name) => [name, fc.anything()],
      ),
    ),
  },
  { requiredKeys: ["message"] },
);

test("no issue makes the loading fail with another error than its own", () => {
  fc.assert(
    fc.property(fc.array(oddIssue, { minLength: 1, maxLength: 2 }), (issues) => {
      const schema = {
        "~standard": { version: 1, vendor: "odd", validate: () => ({ issues }) },
      } as unknown as StandardSchema;
      const found = problemsFor(schema, "{size: 1}");
      expect(found.length).toBeGreaterThan(0);
      for (const problem of found) expect(problem).toMatch(/^\d+:\d+ notes/);
    }),
  );
});
