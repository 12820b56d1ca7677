import fc from "fast-check";
import { expect, it } from "vitest";
import { createEmbeddedEngine, createMemoryStore } from "../../../../src/authz/embedded/index.ts";
import type { Explanation } from "../../../../src/authz/engine/requests.ts";
import { formatRelationship } from "../../../../src/model/relationship-text.ts";
import { engineOf, relationshipOf } from "../engine-of.ts";
import { possibleRelationships, randomModel } from "../random-schema.ts";

const IDS = ["one", "two"];

const SCHEMA = `definition user {}
definition group {
  relation member: user | group#member
}
definition folder {
  relation parent: folder
  relation viewer: user | folder#view
  permission view = viewer + parent->view
}
definition doc {
  relation reader: user | group#member | folder#view | doc#view
  relation banned: user | doc#view
  permission view = reader
  permission edit = view - banned
  permission both = view & reader
}`;

const RELATIONSHIPS = [
  "doc:a#reader@folder:f#view",
  "folder:f#viewer@folder:g#view",
  "folder:g#viewer@user:x",
  "doc:b#reader@doc:a#view",
  "doc:b#banned@doc:a#view",
];

it.each<[text: string, kind: Explanation["kind"], allowed: boolean]>([
  ["doc:a#view@doc:a#view", "self", true],
  ["doc:a#edit@doc:a#edit", "self", true],
  ["doc:unseen#both@doc:unseen#both", "self", true],
  ["doc:a#reader@doc:a#view", "relation", false],
  ["doc:a#view@doc:a#reader", "union", true],
  ["doc:a#view@folder:f#view", "union", true],
  ["doc:a#view@folder:g#view", "union", true],
  ["doc:a#view@folder:f#viewer", "union", true],
  ["doc:b#view@doc:a#view", "union", true],
  ["doc:b#edit@doc:a#view", "exclusion", false],
  ["doc:b#edit@folder:g#view", "exclusion", false],
  ["doc:a#both@folder:g#view", "intersection", true],
  ["doc:a#both@doc:a#view", "intersection", false],
])("usersets, of permissions too: %s is %s, %s", async (text, kind, allowed) => {
  const engine = await engineOf(SCHEMA, createMemoryStore(RELATIONSHIPS.map(relationshipOf)));
  const { resource, relation: permission, subject } = relationshipOf(text);
  const request = { resource, permission, subject };
  expect(await engine.check(request)).toMatchObject({ allowed });
  const { explanation } = await engine.explain(request);
  expect(explanation).toMatchObject({ kind, allowed });
  expectConsistent(explanation);
});

it("an explanation agrees with the check, and each step follows from those below", async () => {
  await fc.assert(
    fc.asyncProperty(fc.gen(), async (gen) => {
      const { model, text } = randomModel(gen);
      const store = createMemoryStore();
      const engine = await createEmbeddedEngine({ model, store });
      const possible = possibleRelationships(model, IDS);
      for (let write = 0; write < 15; write++) {
        const relationship = gen(fc.constantFrom, ...possible);
        const updates = [{ operation: "TOUCH", relationship } as const];
        // A write that would close a cycle is refused.
        await engine.writeRelationships({ updates }).catch(() => undefined);
      }
      const usersets = [...model.definitions.values()].flatMap((definition) =>
        [...definition.relations.keys(), ...definition.permissions.keys()].flatMap((relation) =>
          IDS.map((id) => ({ type: definition.name, id, relation })),
        ),
      );
      for (const { type, id, relation: permission } of usersets) {
        for (const subject of [{ type: "user", id: "one" }, ...usersets]) {
          const request = { resource: { type, id }, permission, subject };
          const { allowed } = await engine.check(request);
          const explained = await engine.explain(request);
          const { items } = await engine.readRelationships({});
          const about = [text, ...items.map(formatRelationship), JSON.stringify(request)].join(
            "\n",
          );
          expect(explained.allowed, about).toBe(allowed);
          expectConsistent(explained.explanation, about);
        }
      }
    }),
    { numRuns: 25 },
  );
}, 300_000);

/** Expects that the result of a step follows from its kind and the steps below. */
function expectConsistent(step: Explanation, about?: string): void {
  const { kind, allowed, children, relationship } = step;
  const below = children.map((child) => child.allowed);
  if (kind === "nil" || kind === "cycle") expect(allowed, about).toBe(false);
  if (kind === "relation") {
    expect(relationship !== undefined, about).toBe(allowed);
    expect(
      below.every((each) => each === allowed),
      about,
    ).toBe(true);
  }
  if (kind === "union") expect(below.includes(true), about).toBe(allowed);
  if (kind === "intersection") expect(!below.includes(false), about).toBe(allowed);
  if (kind === "exclusion") expect(below[0] === true && below[1] === false, about).toBe(allowed);
  for (const child of children) expectConsistent(child, about);
}

it("the size and depth of an explanation are limited", async () => {
  const wide = Array.from({ length: 3000 }, (_, index) => `doc:a#reader@group:g${index}#member`);
  const deep = Array.from(
    { length: 3000 },
    (_, index) => `folder:f${index}#parent@folder:f${index + 1}`,
  );
  const store = createMemoryStore(
    [...wide, ...deep, "folder:f3000#viewer@user:y"].map(relationshipOf),
  );
  const engine = await engineOf(SCHEMA, store);
  for (const [text, allowed, most] of [
    ["doc:a#view@user:x", false, 1010],
    ["folder:f0#view@user:x", false, 1010],
    ["folder:f0#view@user:y", true, 1010],
  ] as const) {
    const { resource, relation: permission, subject } = relationshipOf(text);
    const { explanation } = await engine.explain({ resource, permission, subject });
    expect(explanation.allowed, text).toBe(allowed);
    const { size, depth } = sizeOf(explanation);
    expect(size, text).toBeLessThanOrEqual(most);
    expect(depth, text).toBeLessThanOrEqual(400);
  }
});

it("an explanation that would look through too many relationships is refused", async () => {
  const many = Array.from({ length: 40_000 }, (_, index) => `doc:a#reader@group:g${index}#member`);
  const store = createMemoryStore([...many, "group:g39999#member@user:x"].map(relationshipOf));
  const engine = await engineOf(SCHEMA, store);
  const { resource, relation: permission, subject } = relationshipOf("doc:a#view@user:x");
  const request = { resource, permission, subject };
  expect((await engine.check(request)).allowed).toBe(true);
  await expect(engine.explain(request)).rejects.toMatchObject({ code: "RESOURCE_EXHAUSTED" });
});

function sizeOf({ children }: Explanation): { size: number; depth: number } {
  const below = children.map(sizeOf);
  return {
    size: 1 + below.reduce((sum, { size }) => sum + size, 0),
    depth: 1 + Math.max(0, ...below.map(({ depth }) => depth)),
  };
}
