import { expect, test } from "vitest";
import { parseModel } from "../../src/model/index.ts";
import { testModelRule } from "./rule-tester.ts";

testModelRule("MODEL_SYNTAX", {
  valid: [
    "caveat c(a int) { a == 1 }",
    "caveat c(a int,\n b string) {\n a == 1 &&\n b == 'x'\n}",
    "caveat some/name(a map<list<int>>) { {'a': 1}['a'] == a[0].size() }",
    "caveat c(a bool) { !a ? a : a || a && a != a // }\n}",
    'caveat c(a string) { a == \'}\' || a == "}" || a == """}\n}""" }',
  ],
  invalid: [
    { schema: "caveat ⟦(a int) { a == 1 }", messages: ["expected the name of the caveat"] },
    { schema: "caveat c ⟦{ true }", messages: ['expected "("'] },
    { schema: "caveat c(⟦) { true }", messages: ["expected the name of a parameter"] },
    { schema: "caveat c(a⟦) { true }", messages: ["expected the type of a parameter"] },
    { schema: "caveat c(a list⟦) { a }", messages: ["list takes the type of its elements"] },
    { schema: "caveat c(a list<int⟦,int>) { a }", messages: ['expected ">"'] },
    { schema: "caveat c(a int⟦\n) { a == 1 }", messages: ["a line break goes after a comma"] },
    { schema: "caveat c(a int) { ⟦}", messages: ["expected a CEL expression"] },
    { schema: "caveat c(a int) { a == {1⟦", messages: ["close the caveat"] },
    { schema: "caveat c(a int) { a == 1 }}".replace("}}", "}⟦}"), messages: ['found "}"'] },
  ],
});

testModelRule("MODEL_CAVEAT_TYPE_UNKNOWN", {
  valid: ["caveat c(a any, b ipaddress, d duration, e timestamp, f bytes) { a + b + d + e + f }"],
  invalid: [
    { schema: "caveat c(a ⟦strin) { a }", messages: ['did you mean "string"?'] },
    { schema: "caveat c(a list<⟦number>) { a }", messages: ['"number" is not a valid type'] },
  ],
});

testModelRule("MODEL_PARAMETER_DUPLICATE", {
  valid: ["caveat c(a int, b int) { a == b }"],
  invalid: [{ schema: "caveat c(a int, ⟦a int) { a == 1 }", messages: ["two parameters"] }],
});

testModelRule("MODEL_CAVEAT_PARAMETER_UNUSED", {
  valid: ["caveat c(a int) { 1 == a }"],
  invalid: [
    { schema: "caveat c(⟦a int, b int) { b == 1 // a\n}", messages: ['its parameter "a"'] },
    { schema: "caveat c(⟦a int) { 'a' == 'b' }", messages: ["use it or remove it"] },
  ],
});

test("a caveat keeps its expression as text", () => {
  const { model } = parseModel(
    "caveat c(a list<int>, b int) {\n  b in a && // why\n  b > 1\n}",
    "m",
  );
  expect(model.caveats.get("c")).toEqual({
    name: "c",
    parameters: [
      { name: "a", type: "list<int>", position: { line: 1, column: 10 } },
      { name: "b", type: "int", position: { line: 1, column: 23 } },
    ],
    expression: "b in a && // why\n  b > 1",
    position: { line: 1, column: 8 },
  });
});
