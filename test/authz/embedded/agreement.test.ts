import fc from "fast-check";
import { expect, it } from "vitest";
import { createEmbeddedEngine, createMemoryStore } from "../../../src/authz/embedded/index.ts";
import type { AuthorizationEngine } from "../../../src/authz/engine/engine.ts";
import type { CheckRequest, Page, RelationshipUpdate } from "../../../src/authz/engine/requests.ts";
import type { Model } from "../../../src/model/index.ts";
import type {
  ObjectReference,
  Relationship,
  RelationshipFilter,
  SubjectReference,
} from "../../../src/model/relationship.ts";
import { formatRelationship } from "../../../src/model/relationship-text.ts";
import { runs } from "../../support/effort.ts";
import { Oracle } from "./oracle.ts";
import { RandomChoice } from "./random-choice.ts";
import { possibleRelationships, randomModel } from "./random-schema.ts";
import { randomWideModel } from "./wide-schema.ts";

const IDS = ["one", "two", "three"];
/** The name of a JavaScript property, an id with separators, and the longest allowed one. */
const ODD_IDS = ["__proto__", "a:b@c->d", "\u00fc".repeat(128)];
const RUNS = Number(process.env["SVC_ACCESS_RUNS"] ?? runs(60, 6));

it.each([
  ["small", RUNS, randomModel, IDS],
  [
    "wide",
    Math.ceil(RUNS / 2),
    (gen: fc.GeneratorValue) => randomWideModel(new RandomChoice(gen)),
    ODD_IDS,
  ],
] as const)(
  "every call agrees with the oracle on %s models, through writes and deletes",
  async (size, numRuns, modelOf, ids) => {
    await fc.assert(
      fc.asyncProperty(fc.gen(), async (gen) => {
        const { model, text } = modelOf(gen);
        const choice = new RandomChoice(gen);
        const engine = await createEmbeddedEngine({ model, store: createMemoryStore() });
        const oracle = new Oracle(model);
        const possible = possibleRelationships(model, ids);
        for (let round = 0; round < 2; round++) {
          for (let write = 0; write < 6; write++) {
            const updates = new Map<string, RelationshipUpdate>();
            for (let count = 1 + choice.below(5); count > 0; count--) {
              const relationship = choice.of(possible);
              const operation = choice.of(["TOUCH", "TOUCH", "TOUCH", "DELETE"] as const);
              updates.set(formatRelationship(relationship), { operation, relationship } as const);
            }
            await writeBoth(engine, oracle, [...updates.values()]);
          }
          try {
            const all = { subjects: subjectsOf(model, ids), kinds: kindsOf(model) };
            const asked =
              size === "small"
                ? all
                : {
                    subjects: choice.list(10, () => choice.of(all.subjects)),
                    kinds: choice.list(4, () => choice.of(all.kinds)),
                  };
            const objects = objectsOf(model, ids);
            await compare(engine, oracle, model, choice.of([1, 2, 1000]), { ...asked, objects });
          } catch (error) {
            throw new Error(`${[text, ...oracle.relationships.keys()].join("\n")}\n${error}`, {
              cause: error,
            });
          }
        }
      }),
      { numRuns },
    );
  },
  240_000,
);

/** Writes to both; the engine refuses exactly the writes that would close a cycle. */
async function writeBoth(
  engine: AuthorizationEngine,
  oracle: Oracle,
  updates: RelationshipUpdate[],
): Promise<void> {
  const before = new Map(oracle.relationships);
  for (const { operation, relationship } of updates) {
    if (operation === "DELETE") oracle.relationships.delete(formatRelationship(relationship));
    else oracle.relationships.set(formatRelationship(relationship), relationship);
  }
  const refused = oracle.hasCycle();
  const result = await engine.writeRelationships({ updates }).catch((error) => error);
  expect(result).toMatchObject(
    refused ? { code: "FAILED_PRECONDITION" } : { revision: expect.anything() },
  );
  if (!refused) return;
  oracle.relationships.clear();
  for (const [key, value] of before) oracle.relationships.set(key, value);
}

async function compare(
  engine: AuthorizationEngine,
  oracle: Oracle,
  model: Model,
  pageSize: number,
  { objects, subjects, kinds }: Asked,
): Promise<void> {
  const stored = await pages((cursor) => engine.readRelationships({}, { pageSize, ...cursor }));
  expect(stored.map(formatRelationship)).toEqual([...oracle.relationships.keys()].sort());
  const now = await pages(async (cursor) => {
    const page = engine.readRelationshipsNow?.({}, { pageSize, ...cursor });
    return page ?? Promise.reject(new Error("a short listing waits"));
  });
  expect(now).toEqual(stored);
  await compareFilters(engine, model, stored, { objects, subjects });
  for (const { name: type, relations, permissions } of model.definitions.values()) {
    for (const permission of [...relations.keys(), ...permissions.keys()]) {
      const resources = objects.filter((object) => object.type === type);
      const requests = resources.flatMap((resource) =>
        subjects.map((subject): CheckRequest => ({ resource, permission, subject })),
      );
      const truth = requests.map((r) => oracle.check(r.resource, r.permission, r.subject));
      const single = await Promise.all(requests.map((request) => engine.check(request)));
      const wrong = requests.filter((_, index) => single[index]?.allowed !== truth[index]);
      expect(wrong).toEqual([]);
      expect(requests.map((request) => engine.checkNow?.(request))).toEqual(single);
      const bulk = await engine.checkBulk(requests);
      expect(bulk.items).toEqual(truth.map((allowed) => ({ allowed })));
      const explained = await Promise.all(requests.map((request) => engine.explain(request)));
      expect(explained.map(({ allowed }) => allowed)).toEqual(truth);
      const holds = (resource: ObjectReference, subject: SubjectReference) =>
        truth[requests.findIndex((r) => r.resource === resource && r.subject === subject)];
      for (const subject of subjects) {
        const found = await pages((cursor) =>
          engine.lookupResources({ resourceType: type, permission, subject, pageSize, ...cursor }),
        );
        const expected = resources.filter((resource) => holds(resource, subject));
        expect(found).toEqual(expected.map(({ id }) => id).sort());
        const { allowed } = await engine.checkAny({ resourceType: type, permission, subject });
        expect(allowed).toBe(found.length > 0);
      }
      for (const resource of resources) {
        for (const [subjectType, subjectRelation] of kinds) {
          const found = await pages((cursor) =>
            engine.lookupSubjects({
              ...{ resource, permission, subjectType, pageSize, ...cursor },
              ...(subjectRelation === undefined ? {} : { subjectRelation }),
            }),
          );
          expect(found.map(({ id }) => id)).toEqual(found.map(({ id }) => id).sort());
          const all = found.find(({ id }) => id === "*");
          for (const subject of subjects) {
            if (subject.type !== subjectType || subject.relation !== subjectRelation) continue;
            const named = found.some(({ id }) => id === subject.id);
            const held = named || (all !== undefined && !all.excluded.includes(subject.id));
            expect(held).toBe(holds(resource, subject));
          }
        }
      }
    }
  }
}

/** Filters that name an object, with and without waiting. */
async function compareFilters(
  engine: AuthorizationEngine,
  model: Model,
  stored: readonly Relationship[],
  { objects, subjects }: Pick<Asked, "objects" | "subjects">,
): Promise<void> {
  const kinds = [...model.definitions.values()].flatMap(({ name, relations }) =>
    [...relations.keys()].map((relation) => ({ resourceType: name, relation })),
  );
  const named = subjects.flatMap(({ type, id, relation = "" }): RelationshipFilter[] => [
    { subject: { type, id } },
    { subject: { type, id, relation } },
  ]);
  const resources = objects.flatMap(({ type, id }): RelationshipFilter[] => {
    const resource = { resourceType: type, resourceId: id };
    const ofType = kinds.filter(({ resourceType }) => resourceType === type);
    return [resource, ...ofType.map(({ relation }) => ({ ...resource, relation }))];
  });
  const ofKinds = named.flatMap((filter) => kinds.map((kind) => ({ ...filter, ...kind })));
  for (const filter of [...named, ...resources, ...ofKinds]) {
    const expected = stored.filter((relationship) => fits(relationship, filter));
    expect(engine.readRelationshipsNow?.(filter)?.items).toEqual(expected);
    expect((await engine.readRelationships(filter)).items).toEqual(expected);
  }
}

function fits({ resource, relation, subject }: Relationship, filter: RelationshipFilter): boolean {
  const pairs = [
    [filter.resourceType, resource.type],
    [filter.resourceId, resource.id],
    [filter.relation, relation],
    [filter.subject?.type, subject.type],
    [filter.subject?.id, subject.id],
    [filter.subject?.relation, subject.relation ?? ""],
  ];
  return pairs.every(([wanted, found]) => wanted === undefined || wanted === found);
}

async function pages<Item>(
  next: (cursor: { cursor?: string }) => Promise<Page<Item>>,
): Promise<Item[]> {
  const items: Item[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await next(cursor === undefined ? {} : { cursor });
    items.push(...page.items);
    cursor = page.nextCursor;
    if (cursor === undefined) return items;
  }
}

/** The questions about a model. */
interface Asked {
  readonly objects: readonly ObjectReference[];
  readonly subjects: readonly SubjectReference[];
  readonly kinds: readonly (readonly [type: string, relation: string | undefined])[];
}

/** One object of each type is in no relationship. */
function objectsOf(model: Model, ids: readonly string[]): ObjectReference[] {
  return [...model.definitions.keys()].flatMap((type) =>
    [...ids, "unseen"].map((id) => ({ type, id })),
  );
}

function kindsOf(model: Model): [type: string, relation: string | undefined][] {
  return [...model.definitions.values()].flatMap(({ name, relations, permissions }) =>
    [undefined, ...relations.keys(), ...permissions.keys()].map(
      (relation): [string, string | undefined] => [name, relation],
    ),
  );
}

function subjectsOf(model: Model, ids: readonly string[]): SubjectReference[] {
  return kindsOf(model).flatMap(([type, relation]) =>
    [...ids.slice(0, 2), "unseen"].map((id) =>
      relation === undefined ? { type, id } : { type, id, relation },
    ),
  );
}
