import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import type { SpicedbEngine } from "../../../src/authz/spicedb/index.ts";
import { OBJECT_IDS } from "../../../src/model/object-id.ts";
import { type SpicedbServer, spicedbIsAbsent, startSpicedb } from "../../support/spicedb.ts";
import { ROOT } from "../../support/workspace.ts";
import { engineOf, relationship, request } from "./fixture.ts";

interface ValidationFile {
  readonly schema: string;
  readonly relationships: string;
  readonly assertions?: { readonly assertTrue?: string[]; readonly assertFalse?: string[] };
}

const FOLDER = join(
  resolve(ROOT, process.env["SVC_ACCESS_SHARED"] ?? "../shared"),
  "corpora/spicedb",
);
const files = existsSync(FOLDER)
  ? readdirSync(FOLDER).filter((name) => name.endsWith(".yaml"))
  : [];

test("validation files are present, or the tests are skipped", ({ skip }) => {
  if (files.length > 0) return;
  const message = `SpiceDB's validation files are not at ${FOLDER}; set SVC_ACCESS_SHARED`;
  if (process.env["CI"] === "true") throw new Error(message);
  console.warn(`NOT TESTED: ${message}`);
  skip(message);
});

/** SpiceDB allows ids of 1,024 bytes; ours have at most 256. */
const hasOurIds = (text: string) => {
  const { resource, subject } = relationship(text);
  return OBJECT_IDS.allows(resource.id) && (subject.id === "*" || OBJECT_IDS.allows(subject.id));
};

describe.skipIf(spicedbIsAbsent()).each(files)("SpiceDB's validation file %s", (name) => {
  const file: ValidationFile = parse(readFileSync(join(FOLDER, name), "utf8"));
  const stored = file.relationships
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("//"))
    .filter(hasOurIds);
  const asked = (list: string[] = []) => list.filter(hasOurIds).map(request);
  const [yes, no] = [asked(file.assertions?.assertTrue), asked(file.assertions?.assertFalse)];
  let server: SpicedbServer;
  let engine: SpicedbEngine;

  beforeAll(async () => {
    server = await startSpicedb();
    engine = await engineOf(server, file.schema);
    await engine.writeSchema(file.schema);
    await engine.writeRelationships({
      updates: stored.map((text) => ({ operation: "TOUCH", relationship: relationship(text) })),
    });
  });
  afterAll(async () => {
    await engine?.close();
    await server?.stop();
  });

  test("its assertions hold, one at a time and in bulk", async () => {
    const requests = [...yes, ...no];
    const expected = requests.map((_, index) => index < yes.length);
    for (const [index, request] of requests.entries()) {
      expect((await engine.check(request)).allowed).toBe(expected[index]);
      expect((await engine.explain(request)).explanation.allowed).toBe(expected[index]);
    }
    const { items } = await engine.checkBulk(requests);
    expect(items.map(({ allowed }) => allowed)).toEqual(expected);
  });

  test("lookups agree with it", async () => {
    for (const [requests, expected] of [[yes, true] as const, [no, false] as const]) {
      for (const { resource, permission, subject } of requests) {
        const resources = await engine.lookupResources({
          resourceType: resource.type,
          permission,
          subject,
        });
        expect(resources.items.includes(resource.id)).toBe(expected);
        const { items } = await engine.lookupSubjects({
          resource,
          permission,
          subjectType: subject.type,
          ...(subject.relation === undefined ? {} : { subjectRelation: subject.relation }),
        });
        const wildcard = items.find(({ id }) => id === "*");
        const found =
          items.some(({ id }) => id === subject.id) ||
          (wildcard !== undefined && !wildcard.excluded.includes(subject.id));
        expect(found).toBe(expected);
      }
    }
  });

  test("its relationships are read back", async () => {
    for (const text of stored) {
      const { resource, relation, subject } = relationship(text);
      const { items } = await engine.readRelationships({
        resourceType: resource.type,
        resourceId: resource.id,
        relation,
        subject: { ...subject, relation: subject.relation ?? "" },
      });
      expect(items).toEqual([relationship(text)]);
    }
  });
});
