import { expect, test } from "vitest";
import { parseModel, subjectTypesOf } from "../../src/model/index.ts";

const { model, diagnostics } = parseModel(
  `use self
caveat recent(a int) { a == 1 }
definition user {}
definition bot {}
definition group {
  relation member: user | group#member | group#helper
  relation helper: bot | group#member
}
definition folder {
  relation parent: folder
  relation viewer: user
  permission view = viewer + parent->view
  permission loop = parent->loop
}
definition doc {
  relation parent: folder | doc
  relation wild: bot:*
  relation member: group#member
  relation named: group
  relation flagged: user with recent
  relation viewer: user
  permission view = parent->view + wild
  permission every = parent.all(view)
  permission both = (wild + viewer) & viewer
  permission none = wild & viewer
  permission less = viewer - wild
  permission own = self
  permission nobody = nil
  permission deep = view - nobody & every
}`,
  "model.zed",
);

test.each([
  ["group", "member", "bot user"],
  ["group", "helper", "bot user"],
  ["folder", "view", "user"],
  ["folder", "loop", ""],
  ["folder", "parent", "folder"],
  ["doc", "wild", "bot"],
  ["doc", "member", "bot user"],
  ["doc", "named", "group"],
  ["doc", "flagged", "user"],
  ["doc", "view", "bot user"],
  ["doc", "every", "bot user"],
  ["doc", "both", "user"],
  ["doc", "none", ""],
  ["doc", "less", "user"],
  ["doc", "own", "doc"],
  ["doc", "nobody", ""],
  ["doc", "deep", "bot user"],
  ["doc", "unknown", ""],
  ["unknown", "view", ""],
])("%s#%s can be held by [%s]", (type, name, expected) => {
  expect(diagnostics).toEqual([]);
  expect([...subjectTypesOf(model, type, name)].sort().join(" ")).toBe(expected);
});

test("a chain of many permissions ends quickly", () => {
  const links = Array.from(
    { length: 5_000 },
    (_, index) => `permission p${index}x = p${index + 1}x`,
  );
  const text = `definition doc {\n${links.join("\n")}\nrelation p5000x: doc\n}`;
  const chain = parseModel(text, "model.zed");
  expect(chain.diagnostics).toEqual([]);
  expect([...subjectTypesOf(chain.model, "doc", "p0x")]).toEqual(["doc"]);
});
