import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { createEmbeddedEngine, createMemoryStore } from "../../../src/authz/embedded/index.ts";
import { AuthzError } from "../../../src/authz/engine/authz-error.ts";
import type { AuthorizationEngine } from "../../../src/authz/engine/engine.ts";
import type {
  BulkCheckItem,
  FoundSubject,
  Page,
  Precondition,
  RelationshipUpdate,
} from "../../../src/authz/engine/requests.ts";
import type { Model } from "../../../src/model/index.ts";
import type { Relationship } from "../../../src/model/relationship.ts";
import { formatRelationship } from "../../../src/model/relationship-text.ts";
import { columnsOf, runs } from "../../support/effort.ts";
import { type SpicedbServer, spicedbIsAbsent, startSpicedb } from "../../support/spicedb.ts";
import { ROOT } from "../../support/workspace.ts";
import { RandomChoice } from "../embedded/random-choice.ts";
import { possibleRelationships, randomModel } from "../embedded/random-schema.ts";
import { randomWideModel } from "../embedded/wide-schema.ts";
import { engineOf, modelOf } from "./fixture.ts";
import { nameSubtractions } from "./name-subtractions.ts";

const IDS = ["one", "t.w@o", "=33"];
const RUNS = Number(process.env["SVC_ACCESS_SPICEDB_RUNS"] ?? runs(15, 1));
/**
 * No run begins after this time. The limits of fast-check would not do: one that they interrupt
 * goes on, and would share the server with those of the next models.
 */
const ENOUGH_MS = 60_000;
const UNIMPLEMENTED = "UNIMPLEMENTED";

/**
 * The same random models, writes and questions to both engines. Known differences, which are
 * left out here: a watch reports a CREATE as a TOUCH; relationships are read in SpiceDB's own
 * order; wrong answers of SpiceDB, which are UNIMPLEMENTED; the depth limit of SpiceDB, 50.
 */
describe.skipIf(spicedbIsAbsent())("both engines [ENG-1]", () => {
  let server: SpicedbServer;
  beforeAll(async () => {
    server = await startSpicedb();
  });
  afterAll(() => server?.stop());

  const models: readonly [name: string, schemaOf: (gen: fc.GeneratorValue) => Schema][] = [
    ["small", randomModel],
    ["wide", (gen) => randomWideModel(new RandomChoice(gen))],
    ["real", (gen) => new RandomChoice(gen).of(examples())],
  ];
  // A model of another kind in each run outside of CI.
  test.each(columnsOf(models, Math.floor(Math.random() * 3), 3))(
    "give the same decisions, listings and refusals: %s models",
    { timeout: 300_000 },
    async (_, schemaOf) => {
      const end = performance.now() + ENOUGH_MS;
      await fc.assert(
        fc.asyncProperty(fc.gen(), async (gen) => {
          if (performance.now() > end) return;
          const { text, model } = nameSubtractions(schemaOf(gen).model);
          const choice = new RandomChoice(gen);
          // Removes everything, including the schema.
          await server.stop();
          await server.start();
          const spicedb = await engineOf(server, text);
          const embedded = await createEmbeddedEngine({ model, store: createMemoryStore() });
          try {
            await spicedb.writeSchema(text);
            const possible = possibleRelationships(model, IDS);
            for (let write = 0; write < 12; write++) {
              const updates = new Map<string, RelationshipUpdate>();
              for (let count = 1 + choice.below(5); count > 0; count--) {
                const relationship = choice.of(possible);
                const operation = choice.of(OPERATIONS);
                updates.set(formatRelationship(relationship), { operation, relationship } as const);
              }
              const preconditions = choice.oneIn(4) ? [randomPrecondition(choice, possible)] : [];
              const request = { updates: [...updates.values()], preconditions };
              const [left, right] = await outcomes(
                (engine) => engine.writeRelationships(request).then(() => "written"),
                embedded,
                spicedb,
              );
              expect(right).toBe(left);
            }
            await compare(embedded, spicedb, model, choice).catch((error) => {
              throw new Error(`${text}${error.message}`, { cause: error });
            });
          } finally {
            await spicedb.close();
            await embedded.close();
          }
        }),
        { numRuns: RUNS, endOnFailure: true },
      );
    },
  );
});

const OPERATIONS = ["TOUCH", "TOUCH", "TOUCH", "CREATE", "DELETE"] as const;

interface Schema {
  readonly text: string;
  readonly model: Model;
}

/** Realistic models. */
function examples(): Schema[] {
  const folder = join(ROOT, "testdata/model/examples");
  return readdirSync(folder).map((name) => {
    const { schema } = parse(readFileSync(join(folder, name), "utf8"));
    return { text: schema, model: modelOf(schema) };
  });
}

function randomPrecondition(choice: RandomChoice, possible: readonly Relationship[]): Precondition {
  const { resource, relation } = choice.of(possible);
  const kind = choice.of(["MUST_MATCH", "MUST_NOT_MATCH"] as const);
  return { kind, filter: { resourceType: resource.type, relation } };
}

/** Asks both engines every question that the model allows. */
async function compare(
  embedded: AuthorizationEngine,
  spicedb: AuthorizationEngine,
  model: Model,
  choice: RandomChoice,
): Promise<void> {
  const pageSize = choice.of([1, 2, 1000]);
  const stored = await outcomes(
    async (engine) =>
      (await pages((page) => engine.readRelationships({}, { pageSize, ...page })))
        .map(formatRelationship)
        .sort(),
    embedded,
    spicedb,
  );
  expect(stored[1]).toEqual(stored[0]);

  const types = [...model.definitions.keys()];
  const objects = types.flatMap((type) => IDS.map((id) => ({ type, id })));
  const usersets = [...model.definitions.values()].flatMap(
    ({ name: type, relations, permissions }) =>
      [...relations.keys(), ...permissions.keys()].flatMap((relation) =>
        IDS.map((id) => ({ type, id, relation })),
      ),
  );
  const subjects = [
    ...choice.list(10, () => choice.of(objects)),
    ...choice.list(6, () => choice.of(usersets)),
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
      const isAnswered = (right as unknown[]).map((answer) => answer !== UNIMPLEMENTED);
      const answered = (answers: unknown) =>
        (answers as unknown[]).filter((_, index) => isAnswered[index]);
      expect(answered(right)).toEqual(answered(left));
      for (const subject of subjects) {
        const request = { resourceType: type, permission, subject, pageSize };
        const found = await outcomes(
          (engine) => pages((page) => engine.lookupResources({ ...request, ...page })),
          embedded,
          spicedb,
        );
        if (found[1] === UNIMPLEMENTED) continue;
        expect({ request, found: found[1] }).toEqual({ request, found: found[0] });
        const any = await outcomes(
          async (engine) => (await engine.checkAny(request)).allowed,
          embedded,
          spicedb,
        );
        expect({ request, any: any[1] }).toEqual({ request, any: any[0] });
      }
      for (const subjectType of types) {
        const resource = { type, id: choice.of(IDS) };
        const request = { resource, permission, subjectType, pageSize };
        const found = await outcomes(
          (engine) =>
            pages((page) => engine.lookupSubjects({ ...request, ...page })).then(withoutRepeats),
          embedded,
          spicedb,
        );
        if (found[1] === UNIMPLEMENTED) continue;
        expect({ request, found: found[1] }).toEqual({ request, found: found[0] });
      }
      const asked = choice.of(requests);
      const why = await outcomes(
        async (engine) => (await engine.explain(asked)).explanation,
        embedded,
        spicedb,
      );
      if (why[1] === UNIMPLEMENTED) continue;
      const outline = ({ kind, allowed }: { kind: string; allowed: boolean }) => [kind, allowed];
      expect(outline(why[1] as never)).toEqual(outline(why[0] as never));
    }
  }
}

/** The answer of both engines; errors are compared by code. */
async function outcomes<Result>(
  call: (engine: AuthorizationEngine) => Promise<Result>,
  ...engines: AuthorizationEngine[]
): Promise<unknown[]> {
  return Promise.all(engines.map((engine) => call(engine).catch((error) => error.code ?? error)));
}

function shown({ allowed, error }: BulkCheckItem): unknown {
  if (error === undefined) return allowed;
  return error instanceof AuthzError && error.code === UNIMPLEMENTED ? UNIMPLEMENTED : `${error}`;
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

/** The results without those that `*` covers, of which the engines may name different ones. */
function withoutRepeats(found: FoundSubject[]): FoundSubject[] {
  return found.some(({ id }) => id === "*") ? found.filter(({ id }) => id === "*") : found;
}
