/** Whether one model makes the decisions of another: by meaning, not by text. */
import { describe, expect, test } from "vitest";
import { findGaps, formatGaps, parseModel } from "../../src/model/index.ts";
import { mergeModels } from "../../src/model/merge-models.ts";
import { printModel } from "../../src/model/print-model.ts";

function modelOf(text: string) {
  const { model, diagnostics } = parseModel(text, "model.zed");
  expect(diagnostics).toEqual([]);
  return model;
}

const BASE = `use expiration
caveat office(hour int, name string) { hour > 8 && name == "a b" }
definition user {}
definition group {
  relation member: user | group#member
}
definition doc {
  relation parent: doc
  relation owner: user | group#member
  relation viewer: user | user:* | user with office | user with expiration
  relation banned: user
  relation muted: user
  permission edit = owner + parent->edit
  permission view = (viewer + edit) - banned - muted
  permission both = owner & viewer & edit
}
`;

/** The permission `view` of the base, with another expression. */
const view = (expression: string) => BASE.replace("(viewer + edit) - banned - muted", expression);

describe("two texts have the same meaning", () => {
  test.each([
    ["with comments", `/* all */ ${BASE.replaceAll("\n", " // x\n")}`],
    ["with other white space", BASE.replaceAll("  ", "\t").replaceAll("\n", "\n\n")],
    ["with members in another order", BASE.replace(/( {2}relation parent: doc\n)([^}]*)/, "$2$1")],
    [
      "with definitions in another order",
      BASE.replace(/definition group [^}]*}\n/, "") +
        "definition group { relation member: user | group#member\n}",
    ],
    [
      "with subjects in another order",
      BASE.replace("member: user | group#member", "member: group#member | user"),
    ],
    ["with operands in another order", view("(edit + viewer) - banned - muted")],
    ["with superfluous parentheses", view("((viewer) + (edit)) - (banned) - (muted)")],
    ["with an operand twice", view("(viewer + edit + viewer) - banned - muted")],
    ["with exclusions in another order", view("(viewer + edit) - muted - banned")],
    ["with what is subtracted as one", view("(viewer + edit) - (banned + muted)")],
    ["with arrows spelt out", BASE.replace("parent->edit", "parent.any(edit)")],
    ["with a caveat in other quotes", BASE.replace('"a b"', "'a b'")],
    ["with a caveat in other white space", BASE.replace("hour > 8 &&", "hour>8\n&&")],
    [
      "with parameters in another order",
      BASE.replace("hour int, name string", "name string, hour int"),
    ],
    [
      "with a partial",
      `use partial\n${BASE.replace("  relation banned: user\n", "  ...bans\n")}partial bans { relation banned: user\n}`,
    ],
  ])("%s", (_, text) => {
    expect(findGaps(modelOf(text), modelOf(BASE))).toEqual([]);
    expect(findGaps(modelOf(BASE), modelOf(text))).toEqual([]);
  });
});

describe("a model is not contained in one that [MODEL-3]", () => {
  test.each([
    [
      "has more subjects of a relation",
      BASE.replace("parent: doc", "parent: doc | group"),
      "parent",
    ],
    ["has fewer", BASE.replace("viewer: user |", "viewer:"), "viewer"],
    ["lacks a wildcard", BASE.replace("user:* | ", ""), "viewer"],
    ["lacks a subject with a caveat", BASE.replace("user with office | ", ""), "viewer"],
    [
      "has another userset",
      BASE.replace("owner: user | group#member", "owner: user | group"),
      "owner",
    ],
    [
      "has a permission more",
      BASE.replace("permission both", "permission more = owner\n permission both"),
      "more",
    ],
    ["has one less", BASE.replace(/ {2}permission both.*\n/, ""), "both"],
    [
      "has a permission for a relation",
      BASE.replace("relation muted: user", "permission muted = banned"),
      "muted",
    ],
    ["widens", view("(viewer + edit) - banned"), "view"],
    ["moves an exclusion", view("viewer + (edit - banned - muted)"), "view"],
    ["swaps what is subtracted", view("banned - (viewer + edit) - muted"), "view"],
    [
      "unites what is intersected",
      BASE.replace("owner & viewer & edit", "owner + viewer + edit"),
      "both",
    ],
    ["asks all for any", BASE.replace("parent->edit", "parent.all(edit)"), "edit"],
  ])("%s, and the member is named", (_, text, member) => {
    const gaps = findGaps(modelOf(text), modelOf(BASE));
    expect(gaps).toMatchObject([{ kind: "definition", name: "doc", differs: [member] }]);
    expect(formatGaps(gaps)).toBe(`its doc differs (${member})`);
  });

  test.each([
    ["has another caveat", BASE.replace("hour > 8", "hour > 9"), "its office differs"],
    ["has another text in it", BASE.replace("a b", "ab"), "its office differs"],
    [
      "has another type of a parameter",
      BASE.replace("hour int", "hour uint"),
      "its office differs",
    ],
    ["lacks a definition", "definition user {}", "it lacks group, doc, office"],
  ])("%s", (_, text, words) => {
    expect(formatGaps(findGaps(modelOf(text), modelOf(BASE)))).toContain(words);
  });
});

test("many gaps are named up to a limit", () => {
  const names = Array.from({ length: 9 }, (_, index) => `type${index}xx`);
  const many = names.map((name) => `definition ${name} { relation abc: ${names[0]}\n}`).join("\n");
  const others = many.replaceAll("abc", "bcd");
  const phrase = formatGaps(findGaps(modelOf("definition user {}"), modelOf(many)));
  expect(phrase).toBe("it lacks type0xx, type1xx, type2xx, type3xx, type4xx and 4 more");
  const different = formatGaps(findGaps(modelOf(others), modelOf(many)));
  expect(different.split("; ")).toHaveLength(6);
  expect(different).toMatch(/; 4 more differ$/);
});

test("a merged model contains each part, survives printing and parsing, and does not depend on the order", () => {
  const other = `use self
use typechecking
definition user {}
definition bill { relation payer: user\n permission pay: user = payer + (payer & self)\n}`;
  const parts = [
    { file: "b.zed", model: modelOf(BASE) },
    { file: "a.zed", model: modelOf(other) },
  ];
  const texts = [parts, [...parts].reverse()].map((models) => {
    const { model, conflicts } = mergeModels(models);
    expect(conflicts).toEqual([]);
    return printModel(model);
  });
  expect(texts[0]).toBe(texts[1]);
  const merged = modelOf(texts[0] ?? "");
  for (const { model } of parts) expect(findGaps(merged, model)).toEqual([]);
  expect(printModel(merged)).toBe(texts[0]);
});
