import fc from "fast-check";
import { expect, it } from "vitest";
import { RelationshipGraph } from "../../../../src/authz/embedded/graph/relationship-graph.ts";
import { compileProgram } from "../../../../src/authz/embedded/program/compile-program.ts";
import { findCycle } from "../../../../src/authz/embedded/write/find-cycle.ts";
import { parseModel } from "../../../../src/model/index.ts";
import type { Relationship } from "../../../../src/model/relationship.ts";
import { formatRelationship } from "../../../../src/model/relationship-text.ts";
import { runs } from "../../../support/effort.ts";
import { relationshipOf } from "../engine-of.ts";
import { Oracle } from "../oracle.ts";
import { possibleRelationships, randomModel } from "../random-schema.ts";

const SCHEMA = `definition user {}
definition group {
  relation member: user | group#member
}
definition folder {
  relation parent: folder
  relation viewer: user | folder#view | group#member
  permission view = viewer + parent->view
}
`;

function graphOf(texts: readonly string[] = []): RelationshipGraph {
  const { model } = parseModel(SCHEMA, "test.zed");
  const graph = new RelationshipGraph(compileProgram(model));
  for (const text of texts) graph.add(relationshipOf(text));
  return graph;
}

it.each<[what: string, there: readonly string[], added: readonly string[], cycle: string]>([
  ["itself", [], ["group:a#member@group:a#member"], "group:a#member > group:a#member"],
  [
    "two groups",
    ["group:a#member@group:b#member"],
    ["group:b#member@group:a#member"],
    "group:b#member > group:a#member > group:b#member",
  ],
  [
    "an arrow and a userset of a permission",
    ["folder:a#parent@folder:b"],
    ["folder:b#viewer@folder:a#view"],
    "folder:b#viewer > folder:a#view > folder:b#view > folder:b#viewer",
  ],
  [
    "a long path, of which only the ends are named",
    Array.from({ length: 30 }, (_, index) => `folder:f${index}#parent@folder:f${index + 1}`),
    ["folder:f30#parent@folder:f0"],
    "folder:f30#view > folder:f0#view > folder:f1#view > folder:f2#view > folder:f3#view > folder:f4#view > … 20 more … > folder:f25#view > folder:f26#view > folder:f27#view > folder:f28#view > folder:f29#view > folder:f30#view",
  ],
])("the path is named: %s", (_, there, added, cycle) => {
  expect(findCycle(graphOf([...there, ...added]), added.map(relationshipOf))).toBe(cycle);
});

it("an existing cycle is not attributed to another write", () => {
  const there = ["group:a#member@group:b#member", "group:b#member@group:a#member"];
  const added = "group:c#member@group:a#member";
  expect(findCycle(graphOf([...there, added]), [relationshipOf(added)])).toBeUndefined();
});

it.each([
  ["bottom up", (index: number, length: number) => length - index - 1],
  ["top down", (index: number) => index],
])("each write of a chain that is built %s takes the same time", (_, nth) => {
  const length = 20_000;
  const graph = graphOf();
  let steps = 0;
  for (let index = 0; index < length; index++) {
    const at = nth(index, length);
    const added = [
      relationshipOf(`group:g${at}#member@group:g${at + 1}#member`),
      relationshipOf(`folder:f${at}#parent@folder:f${at + 1}`),
    ];
    for (const relationship of added) graph.add(relationship);
    expect(
      findCycle(graph, added, () => {
        steps++;
      }),
    ).toBeUndefined();
  }
  expect(steps).toBeLessThan(40 * length);
});

it("agrees with a search of all relationships, for many writes, arrows, usersets and permissions", () => {
  let refused = 0;
  fc.assert(
    fc.property(fc.gen(), (gen) => {
      const { model, text } = randomModel(gen);
      const graph = new RelationshipGraph(compileProgram(model));
      const oracle = new Oracle(model);
      const possible = possibleRelationships(model, ["one", "two", "three"]);
      for (let write = 0; write < 15; write++) {
        const size = gen(fc.integer, { min: 1, max: 4 });
        const added = Array.from({ length: size }, () => gen(fc.constantFrom, ...possible)).filter(
          (relationship: Relationship) => graph.add(relationship),
        );
        for (const each of added) oracle.relationships.set(formatRelationship(each), each);
        const found = findCycle(graph, added);
        const lines = [text, ...oracle.relationships.keys()].join("\n");
        expect(found !== undefined, lines).toBe(oracle.hasCycle());
        if (found === undefined) continue;
        refused++;
        for (const each of added) {
          graph.remove(each);
          oracle.relationships.delete(formatRelationship(each));
        }
      }
    }),
    { numRuns: runs(100) },
  );
  expect(refused).toBeGreaterThan(runs(100) / 5);
});
