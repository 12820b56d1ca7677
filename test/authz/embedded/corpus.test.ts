import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { SPICEDB_OBJECT_IDS } from "../../../src/model/object-id.ts";
import { allows, engineOf, objectOf, relationshipOf, writeAll } from "./engine-of.ts";

const shared = process.env["SVC_ACCESS_SHARED"] ?? join(import.meta.dirname, "../../../../shared");
const corpus = join(shared, "corpora/spicedb");
const files = existsSync(corpus)
  ? readdirSync(corpus).filter((name) => name.endsWith(".yaml"))
  : [];

it.skipIf(files.length === 0 && !process.env["CI"])("the corpus is present", () => {
  expect(files.length).toBeGreaterThan(0);
});
if (files.length === 0) console.warn(`SKIPPED: no corpus of SpiceDB in ${corpus}`);

it.each(files)("SpiceDB's assertions hold: %s [MODEL-1]", async (name) => {
  const file = parse(readFileSync(join(corpus, name), "utf8"));
  const engine = await engineOf(file.schema, undefined, SPICEDB_OBJECT_IDS);
  const relationships = linesOf(file.relationships ?? "");
  await writeAll(engine, relationships);
  for (const text of file.assertions?.assertTrue ?? []) {
    expect(await allows(engine, text), text).toBe(true);
  }
  for (const text of file.assertions?.assertFalse ?? []) {
    expect(await allows(engine, text), text).toBe(false);
  }
  const asserted = [
    ...(file.assertions?.assertTrue ?? []),
    ...(file.assertions?.assertFalse ?? []),
  ];
  for (const text of asserted) {
    const { resource, relation: permission, subject } = relationshipOf(text);
    const allowed = await allows(engine, text);
    const resources = await engine.lookupResources({
      resourceType: resource.type,
      permission,
      subject,
    });
    expect(resources.items.includes(resource.id), text).toBe(allowed);
    if (subject.relation !== undefined) continue;
    const subjects = await engine.lookupSubjects({
      resource,
      permission,
      subjectType: subject.type,
    });
    const all = subjects.items.find(({ id }) => id === "*");
    const found = subjects.items.some(({ id }) => id === subject.id);
    expect(found || (all !== undefined && !all.excluded.includes(subject.id)), text).toBe(allowed);
  }
  // The validation part names the subjects of each object and permission.
  for (const [on, expected] of Object.entries<string[]>(file.validation ?? {})) {
    const { relation: permission = "", ...rest } = { ...objectOf(on), relation: on.split("#")[1] };
    const resource = { type: rest.type, id: rest.id.split("#")[0] ?? "" };
    for (const line of expected ?? []) {
      const subject = /^\[([^\]]*)\]/.exec(line)?.[1] ?? "";
      if (subject.includes("*") || subject.includes("{") || subject === "") continue;
      expect(
        await allows(engine, `${resource.type}:${resource.id}#${permission}@${subject}`),
        line,
      ).toBe(true);
    }
  }
});

function linesOf(text: string): string[] {
  // In folded YAML, the lines are separated by spaces.
  return text
    .split("\n")
    .filter((line) => !line.trim().startsWith("//"))
    .flatMap((line) => line.split(/\s+/))
    .filter((line) => line !== "");
}
