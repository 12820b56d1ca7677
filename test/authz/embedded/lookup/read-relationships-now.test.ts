import { expect, it } from "vitest";
import { createEmbeddedEngine, createMemoryStore } from "../../../../src/authz/embedded/index.ts";
import { parseModel } from "../../../../src/model/index.ts";
import type { Relationship, RelationshipFilter } from "../../../../src/model/relationship.ts";

const { model } = parseModel(
  "definition user {}\ndefinition document {\n  relation viewer: user\n}\n",
  "model.zed",
);
const viewer = (document: string, user: string): Relationship => ({
  resource: { type: "document", id: document },
  relation: "viewer",
  subject: { type: "user", id: user },
});
const OF_ALICE: RelationshipFilter = { subject: { type: "user", id: "alice" } };

async function open(relationships: readonly Relationship[] = []) {
  if (model === undefined) throw new Error("the model is wrong");
  return createEmbeddedEngine({ model, store: createMemoryStore(relationships) });
}

it.each<[string, RelationshipFilter, object]>([
  ["an unknown type", { resourceType: "folder" }, {}],
  ["an unknown relation", { resourceType: "document", relation: "editor" }, {}],
  ["an invalid id", { subject: { type: "user", id: "a b" } }, {}],
  ["an invalid page size", OF_ALICE, { pageSize: 0 }],
  ["an invalid cursor", OF_ALICE, { cursor: "x" }],
])("%s is refused, as readRelationships does", async (_, filter, page) => {
  const engine = await open();
  const error = await engine.readRelationships(filter, page).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: "INVALID_ARGUMENT" });
  expect(() => engine.readRelationshipsNow?.(filter, page)).toThrow(error as Error);
  await engine.close();
});

it("a listing that would pause is left to readRelationships", async () => {
  const many = Array.from({ length: 3000 }, (_, index) => viewer(`d${index}`, "alice"));
  const engine = await open([...many, viewer("d0", "bob")]);
  expect(engine.readRelationshipsNow?.(OF_ALICE)).toBeUndefined();
  const filter = { subject: { type: "user", id: "bob" } };
  const page = engine.readRelationshipsNow?.(filter);
  expect(page?.items).toEqual([viewer("d0", "bob")]);
  expect(page).toEqual(await engine.readRelationships(filter));
  await engine.close();
});

it.each([1, 2, 15, 16, 17, 40])(
  "of %s edges of a subject, the one that matches is found",
  async (edges) => {
    const others = Array.from({ length: edges - 1 }, (_, index) => viewer(`d${index}`, "alice"));
    const engine = await open([...others, viewer("the-one", "alice")]);
    const filter = { ...OF_ALICE, resourceType: "document", resourceId: "the-one" };
    const bySubject = { ...OF_ALICE, resourceType: "document", relation: "viewer" };
    expect(engine.readRelationshipsNow?.(filter)?.items).toEqual([viewer("the-one", "alice")]);
    expect(engine.readRelationshipsNow?.(bySubject)).toEqual(
      await engine.readRelationships(bySubject),
    );
    expect(engine.readRelationshipsNow?.(OF_ALICE)?.items).toHaveLength(edges);
    await engine.close();
  },
);

it("it has the writes that were acknowledged before it", async () => {
  const engine = await open();
  expect(engine.readRelationshipsNow?.(OF_ALICE)?.items).toEqual([]);
  const relationship = viewer("d", "alice");
  await engine.writeRelationships({ updates: [{ operation: "TOUCH", relationship }] });
  expect(engine.readRelationshipsNow?.(OF_ALICE)?.items).toEqual([relationship]);
  await engine.writeRelationships({ updates: [{ operation: "DELETE", relationship }] });
  expect(engine.readRelationshipsNow?.(OF_ALICE)?.items).toEqual([]);
  await engine.close();
});

it("an engine that is closed lists nothing", async () => {
  const engine = await open();
  await engine.close();
  const error = await engine.readRelationships(OF_ALICE).catch((reason: unknown) => reason);
  expect(() => engine.readRelationshipsNow?.(OF_ALICE)).toThrow(error as Error);
});
