import { expect, it } from "vitest";
import { allows, engineOf, relationshipOf, writeAll } from "../engine-of.ts";

const SCHEMA = `definition person {
  relation friend: person
}
definition post {
  relation audience: person | person:*
  relation hidden: person:*
  relation tagged: person | person#friend
  permission read = audience - tagged
  permission shown = tagged - hidden
}`;

it("a wildcard of a type does not include its usersets", async () => {
  const engine = await engineOf(SCHEMA);
  await writeAll(engine, [
    "post:one#audience@person:*",
    "post:one#hidden@person:*",
    "post:one#tagged@person:ann#friend",
  ]);
  for (const [text, allowed] of [
    ["post:one#read@person:ann", true],
    ["post:one#read@person:bob#friend", false],
    ["post:one#audience@person:ann#friend", false],
    ["post:one#shown@person:ann#friend", true],
  ] as const) {
    expect([text, await allows(engine, text)]).toEqual([text, allowed]);
    const { resource, relation: permission, subject } = relationshipOf(text);
    const lookup = { resourceType: "post", permission, subject };
    const { items: resources } = await engine.lookupResources(lookup);
    expect([text, resources]).toEqual([text, allowed ? ["one"] : []]);
    const { type: subjectType, relation } = subject;
    const named = relation === undefined ? {} : { subjectRelation: relation };
    const { items } = await engine.lookupSubjects({ resource, permission, subjectType, ...named });
    const expected = relation === undefined ? "*" : subject.id;
    expect([text, items.map(({ id }) => id)]).toEqual([text, allowed ? [expected] : []]);
  }
});
