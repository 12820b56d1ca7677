import fc from "fast-check";
import { expect, it } from "vitest";
import { createEmbeddedEngine, createMemoryStore } from "../../../src/authz/embedded/index.ts";
import type {
  AuthorizationEngine,
  CheckRequest,
  Page,
  RelationshipUpdate,
} from "../../../src/authz/engine.ts";
import type { ObjectReference, SubjectReference } from "../../../src/authz/relationship.ts";
import { formatRelationship } from "../../../src/authz/validate-request.ts";
import type { Model } from "../../../src/model/index.ts";
import { runs } from "../../support/effort.ts";
import { Oracle } from "./oracle.ts";
import { possibleRelationships, randomModel } from "./random-schema.ts";

const IDS = ["one", "two", "three"];
const RUNS = Number(process.env["SVC_ACCESS_RUNS"] ?? runs(60));

it("every call agrees with the oracle, through writes and deletes", async () => {
  await fc.assert(
    fc.asyncProperty(fc.gen(), async (gen) => {
      const { model, text } = randomModel(gen);
      const engine = await createEmbeddedEngine({ model, store: createMemoryStore() });
      const oracle = new Oracle(model);
      const possible = possibleRelationships(model, IDS);
      for (let round = 0; round < 2; round++) {
        for (let write = 0; write < 6; write++) {
          const updates = new Map<string, RelationshipUpdate>();
          const size = gen(fc.integer, { min: 1, max: 5 });
          for (let count = 0; count < size; count++) {
            const relationship = gen(fc.constantFrom, ...possible);
            const operation = gen(fc.constantFrom, "TOUCH", "TOUCH", "TOUCH", "DELETE");
            updates.set(formatRelationship(relationship), { operation, relationship } as const);
          }
          await writeBoth(engine, oracle, [...updates.values()]);
        }
        try {
          await compare(engine, oracle, model, gen(fc.constantFrom, 1, 2, 1000));
        } catch (error) {
          throw new Error(`${[text, ...oracle.relationships.keys()].join("\n")}\n${error}`, {
            cause: error,
          });
        }
      }
    }),
    { numRuns: RUNS },
  );
}, 240_000);

/** Writes to both; the engine refuses exactly what would close a cycle. */
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
): Promise<void> {
  const objects = objectsOf(model);
  const subjects = subjectsOf(model);
  const stored = await pages((cursor) => engine.readRelationships({}, { pageSize, ...cursor }));
  expect(stored.map(formatRelationship)).toEqual([...oracle.relationships.keys()].sort());
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
        for (const [subjectType, subjectRelation] of kindsOf(model)) {
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

/** One object of each type is in no relationship. */
function objectsOf(model: Model): ObjectReference[] {
  return [...model.definitions.keys()].flatMap((type) =>
    [...IDS, "unseen"].map((id) => ({ type, id })),
  );
}

function kindsOf(model: Model): [type: string, relation: string | undefined][] {
  return [...model.definitions.values()].flatMap(({ name, relations, permissions }) =>
    [undefined, ...relations.keys(), ...permissions.keys()].map(
      (relation): [string, string | undefined] => [name, relation],
    ),
  );
}

function subjectsOf(model: Model): SubjectReference[] {
  return kindsOf(model).flatMap(([type, relation]) =>
    [...IDS.slice(0, 2), "unseen"].map((id) =>
      relation === undefined ? { type, id } : { type, id, relation },
    ),
  );
}
