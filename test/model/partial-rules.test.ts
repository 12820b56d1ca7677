import { expect, test } from "vitest";
import { parseModel } from "../../src/model/index.ts";
import { testModelRule } from "./rule-tester.ts";

const partials = (text: string) => `use partial\n${text}`;

testModelRule("MODEL_PARTIAL_UNKNOWN", {
  valid: [partials("partial viewed { relation viewer: doc; }\ndefinition doc { ...viewed; }")],
  invalid: [
    {
      schema: partials("partial viewed {}\ndefinition doc { ...⟦veiwed; }"),
      messages: ['did you mean "viewed"?'],
    },
    { schema: "definition doc { ...⟦viewed; }", messages: ['there is no partial "viewed"'] },
    { schema: partials("partial viewed { ...⟦nothing; }"), messages: ["nothing"] },
  ],
});

testModelRule("MODEL_PARTIAL_CYCLE", {
  valid: [partials("partial one { ...two; }\npartial two {}\ndefinition doc { ...one; }")],
  invalid: [
    {
      schema: partials(
        "partial one { ...two; }\npartial two { ...⟦one; }\ndefinition doc { ...one; }",
      ),
      messages: ["one > two > one"],
    },
    { schema: partials("partial one { ...⟦one; }"), messages: ["one > one"] },
  ],
});

testModelRule("MODEL_PARTIAL_REPEATED", {
  valid: [partials("partial one {}\ndefinition doc { ...one; }\ndefinition dog { ...one; }")],
  invalid: [
    {
      schema: partials(
        "partial one { relation viewer: doc; }\ndefinition doc { ...one; ...⟦one; }",
      ),
      messages: ['doc already includes the partial "one"'],
    },
  ],
});

testModelRule("MODEL_RELATION_UNKNOWN", {
  valid: [
    partials(
      "partial one { permission view = viewer; }\ndefinition doc { ...one; relation viewer: doc; }",
    ),
  ],
  invalid: [
    {
      schema: partials("partial one { permission view = ⟦viewer; }\ndefinition doc { ...one; }"),
      messages: ["doc has no"],
    },
  ],
});

test("a definition has what its partials declare, in place", () => {
  const text = partials(
    "partial inner { relation two: doc; }\npartial outer { relation one: doc; ...inner; }\ndefinition doc { ...outer; relation three: doc; }",
  );
  const { model, diagnostics } = parseModel(text, "m");
  expect(diagnostics).toEqual([]);
  expect([...(model.definitions.get("doc")?.relations.keys() ?? [])]).toEqual([
    "one",
    "two",
    "three",
  ]);
});
