import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createEmbeddedEngine, createMemoryStore } from "../../../src/authz/embedded/index.ts";
import type {
  AuthorizationEngine,
  BulkCheckItem,
  FoundSubject,
  Page,
  RelationshipUpdate,
} from "../../../src/authz/engine.ts";
import type { Relationship } from "../../../src/authz/relationship.ts";
import { refuseConfusedPermissions } from "../../../src/authz/spicedb/confused-permissions.ts";
import { formatRelationship } from "../../../src/authz/validate-request.ts";
import type { Model } from "../../../src/model/index.ts";
import { runs } from "../../support/effort.ts";
import { type SpicedbServer, spicedbIsAbsent, startSpicedb } from "../../support/spicedb.ts";
import { randomModel } from "../embedded/random-schema.ts";
import { engineOf } from "./fixture.ts";

const IDS = ["one", "t.w@o", "=33"];
const RUNS = Number(process.env["SVC_ACCESS_SPICEDB_RUNS"] ?? runs(15));
const TYPES = ["user", "group", "folder", "doc"];

/**
 * The same random models, writes and questions to both engines. Known differences, which are
 * left out here: a watch tells of a CREATE as a TOUCH; relationships are read in SpiceDB's own
 * order; models that SpiceDB decides wrongly; SpiceDB ends at depth 50, and errs in lookups over `self` (UNIMPLEMENTED of resources;
 * subjects found too many, which ours checks).
 */
describe.skipIf(spicedbIsAbsent())("both engines", () => {
  let server: SpicedbServer;
  beforeAll(async () => {
    server = await startSpicedb();
  });
  afterAll(() => server?.stop());

  test("give the same decisions, listings and refusals", { timeout: 300_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.gen(), async (gen) => {
        const { text, model } = randomModel(gen);
        fc.pre(isToldApart(model));
        // Empty again, and without a schema.
        await server.stop();
        await server.start();
        const spicedb = await engineOf(server, text);
        const embedded = await createEmbeddedEngine({ model, store: createMemoryStore() });
        try {
          await spicedb.writeSchema(text);
          const possible = relationshipsOf(model);
          for (let write = 0; write < 10; write++) {
            const updates = new Map<string, RelationshipUpdate>();
            const size = gen(fc.integer, { min: 1, max: 5 });
            for (let count = 0; count < size; count++) {
              const relationship = gen(fc.constantFrom, ...possible);
              const operation = gen(fc.constantFrom, "TOUCH", "TOUCH", "TOUCH", "CREATE", "DELETE");
              updates.set(formatRelationship(relationship), { operation, relationship } as const);
            }
            const request = { updates: [...updates.values()] };
            const [left, right] = await outcomes(
              (engine) => engine.writeRelationships(request).then(() => "written"),
              embedded,
              spicedb,
            );
            expect(right).toBe(left);
          }
          const self = /[ (]self/.test(text.replace("use self", ""));
          const pageSize = gen(fc.constantFrom, 1, 2, 1000);
          await compare(embedded, spicedb, model, pageSize, !self).catch((error) => {
            throw new Error(`${text}${error.message}`, { cause: error });
          });
        } finally {
          await spicedb.close();
          await embedded.close();
        }
      }),
      { numRuns: RUNS, interruptAfterTimeLimit: 60_000, endOnFailure: true },
    );
  });
});

function isToldApart(model: Model): boolean {
  try {
    refuseConfusedPermissions(model);
    return true;
  } catch {
    return false;
  }
}

/** Asks both engines everything that the model lets one ask. */
async function compare(
  embedded: AuthorizationEngine,
  spicedb: AuthorizationEngine,
  model: Model,
  pageSize: number,
  lookups: boolean,
): Promise<void> {
  const stored = await outcomes(
    async (engine) =>
      (await pages((page) => engine.readRelationships({}, { pageSize, ...page })))
        .map(formatRelationship)
        .sort(),
    embedded,
    spicedb,
  );
  expect(stored[1]).toEqual(stored[0]);

  const objects = TYPES.flatMap((type) => IDS.map((id) => ({ type, id })));
  const subjects = [
    ...objects,
    ...IDS.map((id) => ({ type: "group", id, relation: "member" })),
    { type: "folder", id: "one", relation: "view" },
  ];
  for (const { name: type, relations, permissions } of model.definitions.values()) {
    for (const permission of [...relations.keys(), ...permissions.keys()]) {
      const requests = objects
        .filter((object) => object.type === type)
        .flatMap((resource) => subjects.map((subject) => ({ resource, permission, subject })));
      const [left, right] = await outcomes(
        async (engine) => (await engine.checkBulk(requests)).items.map(shown),
        embedded,
        spicedb,
      );
      expect(right).toEqual(left);
      for (const subject of lookups ? subjects : []) {
        const request = { resourceType: type, permission, subject, pageSize };
        const found = await outcomes(
          (engine) => pages((page) => engine.lookupResources({ ...request, ...page })),
          embedded,
          spicedb,
        );
        expect({ request, found: found[1] }).toEqual({ request, found: found[0] });
      }
      for (const subjectType of lookups ? TYPES : []) {
        const resource = { type, id: "one" };
        const request = { resource, permission, subjectType, pageSize };
        const found = await outcomes(
          (engine) =>
            pages((page) => engine.lookupSubjects({ ...request, ...page })).then(withoutRepeats),
          embedded,
          spicedb,
        );
        expect({ request, found: found[1] }).toEqual({ request, found: found[0] });
      }
      const asked = requests[0];
      if (asked === undefined) continue;
      const why = await outcomes(
        async (engine) => (await engine.explain(asked)).explanation,
        embedded,
        spicedb,
      );
      const outline = ({ kind, allowed }: { kind: string; allowed: boolean }) => [kind, allowed];
      expect(outline(why[1] as never)).toEqual(outline(why[0] as never));
    }
  }
}

/** What both engines answer; an error counts by its code. */
async function outcomes<Result>(
  call: (engine: AuthorizationEngine) => Promise<Result>,
  ...engines: AuthorizationEngine[]
): Promise<unknown[]> {
  return Promise.all(engines.map((engine) => call(engine).catch((error) => error.code ?? error)));
}

function shown({ allowed, error }: BulkCheckItem): unknown {
  return error === undefined ? allowed : `${error}`;
}

async function pages<Item>(
  read: (page: { cursor?: string }) => Promise<Page<Item>>,
): Promise<Item[]> {
  const items: Item[] = [];
  for (let cursor: string | undefined = "first"; cursor !== undefined; ) {
    const page: Page<Item> = await read(cursor === "first" ? {} : { cursor });
    items.push(...page.items);
    cursor = page.nextCursor;
  }
  return items;
}

/** What was found, less those that `*` stands for anyway: the engines name others of them. */
function withoutRepeats(found: FoundSubject[]): FoundSubject[] {
  return found.some(({ id }) => id === "*") ? found.filter(({ id }) => id === "*") : found;
}

/** Every relationship over a few objects that a model allows. */
function relationshipsOf(model: Model): Relationship[] {
  const found: Relationship[] = [];
  for (const { name: type, relations } of model.definitions.values()) {
    for (const { name: relation, subjects } of relations.values()) {
      for (const { type: subjectType, relation: userset, wildcard } of subjects) {
        const named = userset === undefined ? {} : { relation: userset };
        for (const id of IDS) {
          for (const subjectId of wildcard ? ["*"] : IDS) {
            found.push({
              resource: { type, id },
              relation,
              subject: { type: subjectType, id: subjectId, ...named },
            });
          }
        }
      }
    }
  }
  return found;
}
