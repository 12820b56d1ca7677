import { describe, expect, test } from "vitest";
import { parseModel } from "../../src/model/index.ts";

// The verdicts of SpiceDB are those of its compiler and type system at 1.54. All others in this
// folder were compared with it and agree, as do the schemas of SpiceDB's own tests.

const rules = (schema: string) =>
  parseModel(schema, "model.zed").diagnostics.map(({ rule }) => rule);

describe("accepted by SpiceDB and refused here", () => {
  test.each([
    // SpiceDB only warns, and its checks run into the depth limit.
    ["definition doc { relation one: doc; permission two = one + two; }", "MODEL_PERMISSION_CYCLE"],
    [
      "definition doc { relation one: doc; permission two = one - one->two; }",
      "MODEL_EXCLUSION_RECURSION",
    ],
    // SpiceDB only warns: such an arrow grants nothing.
    ["definition doc { relation one: doc; permission two = one->three; }", "MODEL_ARROW_DANGLING"],
    // SpiceDB uses the last of two.
    ["use partial\npartial one {}\npartial one {}", "MODEL_DEFINITION_DUPLICATE"],
    ["use partial\npartial one {}\ndefinition doc { ...one; ...one; }", "MODEL_PARTIAL_REPEATED"],
  ])("%j", (schema, rule) => {
    expect(rules(schema)).toEqual([rule]);
  });
});

describe("refused by SpiceDB and accepted here", () => {
  test.each([
    // A byte order mark is a trait of the file, not of the schema.
    ["\uFEFFdefinition doc {}"],
    // CEL is not compiled.
    ["caveat one(a int) { a +* 'x' }"],
  ])("%j", (schema) => {
    expect(rules(schema)).toEqual([]);
  });
});
