import { describe, expect, test } from "vitest";
import { formatExpression, parseModel } from "../../src/model/index.ts";

/** The parsed expression, with parentheses around each operator. */
function reading(expression: string): string {
  const { model, diagnostics } = parseModel(
    `use self\ndefinition doc {\n${["aaa", "bbb", "ccc", "ddd"].map((name) => `relation ${name}: doc`).join("\n")}\npermission view = ${expression}\n}`,
    "model.zed",
  );
  expect(diagnostics).toEqual([]);
  const permission = model.definitions.get("doc")?.permissions.get("view");
  return permission ? formatExpression(permission.expression) : "";
}

describe("union binds tightest, then intersection, then exclusion", () => {
  test.each([
    ["aaa", "aaa"],
    ["((aaa))", "aaa"],
    ["nil + self", "nil + self"],
    ["aaa - bbb + ccc", "aaa - (bbb + ccc)"],
    ["aaa + bbb - ccc", "(aaa + bbb) - ccc"],
    ["aaa & bbb + ccc", "aaa & (bbb + ccc)"],
    ["aaa + bbb & ccc", "(aaa + bbb) & ccc"],
    ["aaa - bbb & ccc", "aaa - (bbb & ccc)"],
    ["aaa & bbb - ccc", "(aaa & bbb) - ccc"],
    ["aaa - bbb & ccc + ddd", "aaa - (bbb & (ccc + ddd))"],
    ["aaa + bbb & ccc - ddd", "((aaa + bbb) & ccc) - ddd"],
    ["aaa - bbb - ccc", "aaa - bbb - ccc"],
    ["(aaa - bbb) - ccc", "aaa - bbb - ccc"],
    ["aaa - (bbb - ccc)", "aaa - (bbb - ccc)"],
    ["aaa + (bbb + ccc)", "aaa + bbb + ccc"],
    ["aaa & (bbb & ccc) & ddd", "aaa & bbb & ccc & ddd"],
    ["(aaa - bbb) + ccc", "(aaa - bbb) + ccc"],
    ["aaa->bbb + ccc.any(ddd) - aaa.all(bbb)", "(aaa->bbb + ccc->ddd) - aaa.all(bbb)"],
  ])("%s is %s", (expression, expected) => {
    expect(reading(expression)).toBe(expected);
    expect(reading(expected)).toBe(expected);
  });
});

test("each leaf has its position", () => {
  const { model } = parseModel(
    "definition doc {\n\trelation one: doc\n\tpermission two = nil -\n  one->two\n}",
    "m",
  );
  expect(model.definitions.get("doc")?.permissions.get("two")).toEqual({
    name: "two",
    position: { line: 3, column: 13 },
    expression: {
      kind: "exclusion",
      base: { kind: "nil", position: { line: 3, column: 19 } },
      subtracted: {
        kind: "arrow",
        relation: "one",
        function: "any",
        permission: "two",
        position: { line: 4, column: 3 },
        permissionPosition: { line: 4, column: 8 },
      },
    },
  });
});
