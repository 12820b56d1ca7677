import fc from "fast-check";
import { expect, it } from "vitest";
import { checkSubject } from "../../../../src/authz/embedded/check/check-subject.ts";
import { GroupSearch } from "../../../../src/authz/embedded/check/group-search.ts";
import { RelationshipGraph } from "../../../../src/authz/embedded/graph/relationship-graph.ts";
import { compileProgram } from "../../../../src/authz/embedded/program/compile-program.ts";
import { parseModel } from "../../../../src/model/index.ts";
import { relationshipOf, subjectOf } from "../engine-of.ts";

const { model } = parseModel(
  `definition user {}
definition group {
  relation member: user | user:* | group#member
}`,
  "test.zed",
);
const program = compileProgram(model);

/** Whether groups contain a subject, by a search of all their members. */
function holds(texts: readonly string[], groups: readonly number[], subject: string): boolean {
  const pending = groups.map((group) => `group:g${group}#member`);
  const seen = new Set(pending);
  for (let group = pending.pop(); group !== undefined; group = pending.pop()) {
    if (group === subject) return true;
    for (const text of texts) {
      const [resource, member = ""] = text.split("@");
      if (resource !== group) continue;
      if (member === subject || (member === "user:*" && subject.startsWith("user:"))) return true;
      if (member.startsWith("group:") && !seen.has(member)) {
        seen.add(member);
        pending.push(member);
      }
    }
  }
  return false;
}

/** The number of other groups: none, or too many to be collected from the subject. */
const CROWDS = [0, 600];

it.each(CROWDS)("agrees with a search from the groups, with %s other groups", (crowd) => {
  const tally = { true: 0, false: 0 };
  fc.assert(
    fc.property(fc.gen(), (gen) => {
      const group = () => gen(fc.nat, { max: 11 });
      const texts = new Set<string>();
      for (let index = 0; index < gen(fc.nat, { max: 30 }); index++) {
        texts.add(`group:g${group()}#member@group:g${group()}#member`);
      }
      for (const user of ["user:x", "user:y", "user:*"]) {
        if (gen(fc.boolean)) texts.add(`group:g${group()}#member@${user}`);
      }
      const crowded = gen(
        fc.constantFrom,
        "user:x",
        "user:*",
        "group:g0#member",
        "group:g1#member",
      );
      for (let index = 0; index < crowd; index++) {
        texts.add(`group:other${index}#member@${crowded}`);
      }
      const graph = new RelationshipGraph(program);
      for (const text of texts) graph.add(relationshipOf(text));
      const search = new GroupSearch(graph);
      const subject = gen(fc.constantFrom, "user:x", "user:y", "user:z", "group:g0#member");
      search.begin(checkSubject(graph, subjectOf(subject)));
      // Several questions about one subject, as in a check.
      for (let question = 0; question < 6; question++) {
        const asked = Array.from({ length: gen(fc.integer, { min: 1, max: 3 }) }, group).filter(
          (number) => graph.findObject("group", `g${number}`) >= 0,
        );
        const pairs = asked.map((number) => graph.findPair("group", `g${number}`, "member"));
        const answer =
          search.expect(pairs.length) || pairs.some((pair) => search.ask(pair)) || search.run();
        const truth = holds([...texts], asked, subject);
        expect(answer, [...texts, subject, ...asked].join("\n")).toBe(truth);
        tally[`${truth}`]++;
      }
    }),
    { numRuns: crowd === 0 ? 500 : 150 },
  );
  expect(Math.min(tally.true, tally.false)).toBeGreaterThan(50);
});
