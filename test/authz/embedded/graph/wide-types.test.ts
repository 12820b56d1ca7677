import { expect, it } from "vitest";
import { RelationshipGraph } from "../../../../src/authz/embedded/graph/relationship-graph.ts";
import { createMemoryStore } from "../../../../src/authz/embedded/index.ts";
import { compileProgram } from "../../../../src/authz/embedded/program/compile-program.ts";
import { parseModel } from "../../../../src/model/index.ts";
import { allows, engineOf, relationshipOf, updateOf } from "../engine-of.ts";

const RELATIONS = Array.from({ length: 20 }, (_, index) => `held${index}`);
const SCHEMA = `definition user {}
definition item {
  relation above: item
${RELATIONS.map((relation) => `  relation ${relation}: user | item#held3 | item#any`).join("\n")}
  permission any = ${RELATIONS.join(" + ")} + above->any
  permission none = any - held0
}`;

it("an object of a wide type has pairs only for its used members", () => {
  const { model } = parseModel(SCHEMA, "test.zed");
  const graph = new RelationshipGraph(compileProgram(model));
  graph.add(relationshipOf("item:a#held7@user:x"));
  expect(graph.pairs.end).toBe(3);
  expect(graph.findPair("item", "a", "held8")).toBe(-1);
  expect(graph.findPair("item", "a", "none")).toBe(-1);
});

it.each<[text: string, allowed: boolean]>([
  ["item:a#any@user:x", true],
  ["item:a#any@user:y", false],
  ["item:b#any@user:x", true],
  ["item:c#any@user:x", true],
  ["item:c#none@user:x", true],
  ["item:d#any@user:x", false],
  ["item:c#any@item:b#held3", true],
  ["item:c#any@item:a#any", true],
  ["item:c#any@item:a#held0", true],
  ["item:a#any@item:c#any", false],
  ["item:unseen#any@item:unseen#any", true],
])("wide types are checked, listed and read like others: %s is %s", async (text, allowed) => {
  const store = createMemoryStore(
    [
      "item:a#held7@user:x",
      "item:b#held3@item:a#any",
      "item:b#held12@user:z",
      "item:c#above@item:b",
      "item:c#held19@item:b#held3",
      "item:d#held1@user:x",
    ].map(relationshipOf),
  );
  const engine = await engineOf(SCHEMA, store);
  await engine.writeRelationships({ updates: [updateOf("item:d#held1@user:x", "DELETE")] });
  expect(await allows(engine, text)).toBe(allowed);
  const { resource, relation: permission, subject } = relationshipOf(text);
  const found = await engine.lookupResources({ resourceType: "item", permission, subject });
  expect(found.items.includes(resource.id)).toBe(allowed);
  const { items } = await engine.readRelationships({ resourceType: "item", resourceId: "b" });
  expect(items.map(({ relation }) => relation)).toEqual(["held12", "held3"]);
});
