/** Realistic models with their assertions, in the embedded engine and in SpiceDB. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import type { AuthorizationEngine } from "../../src/authz/engine/engine.ts";
import { columnsOf } from "../support/effort.ts";
import { type SpicedbServer, spicedbIsAbsent, startSpicedb } from "../support/spicedb.ts";
import { ROOT } from "../support/workspace.ts";
import { request, updates } from "./contract/schema.ts";
import { engineOf } from "./embedded/engine-of.ts";
import { engineOf as spicedbEngineOf } from "./spicedb/fixture.ts";

interface Example {
  readonly schema: string;
  readonly relationships: string;
  readonly assertions: { readonly assertTrue: string[]; readonly assertFalse: string[] };
}

const FOLDER = join(ROOT, "testdata/model/examples");
const files = readdirSync(FOLDER);
const exampleOf = (name: string): Example => parse(readFileSync(join(FOLDER, name), "utf8"));

/** Every call agrees with the assertions. */
async function expectAssertions(engine: AuthorizationEngine, example: Example): Promise<void> {
  const stored = example.relationships.trim().split("\n");
  await engine.writeRelationships({ updates: updates("TOUCH", ...stored) });
  const { assertTrue, assertFalse } = example.assertions;
  for (const [texts, expected] of [[assertTrue, true] as const, [assertFalse, false] as const]) {
    for (const text of texts) {
      const { resource, permission, subject } = request(text);
      const { explanation, allowed } = await engine.explain({ resource, permission, subject });
      expect([text, allowed, explanation.allowed]).toEqual([text, expected, expected]);
      const lookup = { resourceType: resource.type, permission, subject };
      const { items: resources } = await engine.lookupResources(lookup);
      expect([text, resources.includes(resource.id)]).toEqual([text, expected]);
      const { type: subjectType, relation } = subject;
      const { items } = await engine.lookupSubjects({
        ...{ resource, permission, subjectType },
        ...(relation === undefined ? {} : { subjectRelation: relation }),
      });
      const all = items.find(({ id }) => id === "*");
      const isCovered = all !== undefined && !all.excluded.includes(subject.id);
      const found = isCovered || items.some(({ id }) => id === subject.id);
      expect([text, found]).toEqual([text, expected]);
    }
  }
}

test.each(files)("embedded: %s", async (name) => {
  const example = exampleOf(name);
  const engine = await engineOf(example.schema);
  await expectAssertions(engine, example);
  await engine.close();
});

describe.skipIf(spicedbIsAbsent())("SpiceDB", () => {
  let server: SpicedbServer;
  beforeAll(async () => {
    server = await startSpicedb();
  });
  afterAll(() => server?.stop());

  // In CI all of them, otherwise one of three: the embedded engine tests all.
  test.each(columnsOf(files, 0, 3))("%s", async (name) => {
    const example = exampleOf(name);
    const engine = await spicedbEngineOf(server, example.schema);
    await engine.writeSchema(example.schema);
    await expectAssertions(engine, example);
    // Removes everything, for the schema of the next example.
    const stored = example.relationships.trim().split("\n");
    await engine.writeRelationships({ updates: updates("DELETE", ...stored) });
    await engine.close();
  });
});
