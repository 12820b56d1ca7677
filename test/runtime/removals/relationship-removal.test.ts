/** Relationships of one object are removed in batches, also while others write. */
import { expect, test } from "vitest";
import {
  AuthzError,
  createEmbeddedEngine,
  createMemoryStore,
  parseModel,
  type RelationshipUpdate,
} from "../../../src/authz/index.ts";
import {
  type RemovingEngine,
  removeRelationshipsOf,
} from "../../../src/runtime/removals/relationship-removal.ts";

const GROUP = { type: "group", id: "g" };
const SCHEMA = `definition user {}
definition group {
  relation member: user
}
definition project {
  relation viewer: group#member
}
`;

/** An engine with projects that the members of a group view, and its reads. */
async function openEngine(projects: number, maxResults?: number) {
  const { model } = parseModel(SCHEMA, "removal.zed");
  const engine = await createEmbeddedEngine({
    model,
    store: createMemoryStore(),
    ...(maxResults === undefined ? {} : { maxResults }),
  });
  const touch = (index: number): RelationshipUpdate => ({
    operation: "TOUCH",
    relationship: {
      resource: { type: "project", id: `p${index}` },
      relation: "viewer",
      subject: { ...GROUP, relation: "member" },
    },
  });
  for (let at = 0; at < projects; at += 1000) {
    const length = Math.min(1000, projects - at);
    await engine.writeRelationships({
      updates: Array.from({ length }, (_, index) => touch(at + index)),
    });
  }
  const reads: (string | undefined)[] = [];
  let beforePage = async (): Promise<void> => undefined;
  const removing: RemovingEngine = {
    writeRelationships: (request, options) => engine.writeRelationships(request, options),
    async readRelationships(filter, page, options) {
      reads.push(page?.cursor);
      if (page?.cursor !== undefined) await beforePage();
      return engine.readRelationships(filter, page, options);
    },
  };
  return {
    removing,
    reads,
    touch: (index: number) => engine.writeRelationships({ updates: [touch(index)] }),
    beforePages: (work: () => Promise<void>) => {
      beforePage = work;
    },
    left: async () => (await engine.readRelationships({ resourceType: "project" })).items.length,
    close: () => engine.close(),
  };
}

function remove(engine: RemovingEngine, signal = new AbortController().signal) {
  const counts: number[] = [];
  const again = async (): Promise<void> => {
    const more = await removeRelationshipsOf(engine, GROUP, signal, (count) => counts.push(count));
    if (more) await again();
  };
  return { done: again(), counts };
}

test("where only some types may name it, no others are read or written", async () => {
  const engine = await openEngine(3);
  const types: (string | undefined)[] = [];
  const removing: RemovingEngine = {
    ...engine.removing,
    async readRelationships(filter, page, options) {
      types.push(filter.resourceType);
      return engine.removing.readRelationships(filter, page, options);
    },
  };
  const { signal } = new AbortController();
  const remove = (namedBy: readonly string[]) =>
    removeRelationshipsOf(removing, { ...GROUP, namedBy }, signal, () => undefined);
  expect(await remove([])).toBe(false);
  expect(await engine.left()).toBe(3);
  expect(await remove(["project"])).toBe(true);
  expect(await engine.left()).toBe(0);
  expect(types).toEqual(["group", "project", "group"]);
  await engine.close();
});

test("a failed read ends the removal, also after the first page", async () => {
  const engine = await openEngine(2500);
  engine.beforePages(async () => {
    throw new AuthzError("UNAVAILABLE", "the store is away");
  });
  await expect(remove(engine.removing).done).rejects.toThrow("the store is away");
  expect(await engine.left()).toBeGreaterThan(0);
  await engine.close();
});

test("a removal that is ended removes nothing more", async () => {
  const engine = await openEngine(10);
  const ended = AbortSignal.abort(new Error("the service stops"));
  await expect(remove(engine.removing, ended).done).rejects.toThrow("the service stops");
  expect(await engine.left()).toBe(10);
  await engine.close();
});

test("a write between two pages removes what was read, and then the rest", async () => {
  const engine = await openEngine(2500);
  let writes = 0;
  engine.beforePages(async () => {
    if (writes++ === 0) await engine.touch(9999);
  });
  const { done, counts } = remove(engine.removing);
  await done;
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(2501);
  expect(await engine.left()).toBe(0);
  await engine.close();
});

test("one turn ends after many, and what is left is found in the next", async () => {
  const engine = await openEngine(60_000);
  let removed = 0;
  const { signal } = new AbortController();
  const more = await removeRelationshipsOf(engine.removing, GROUP, signal, (count) => {
    removed += count;
  });
  expect([more, removed]).toEqual([true, 50_000]);
  await engine.close();
});

test("an engine orders many relationships a few times, and not for each write", async () => {
  const engine = await openEngine(60_000);
  const { done, counts } = remove(engine.removing);
  await done;
  expect(Math.max(...counts)).toBe(500);
  expect(counts).toHaveLength(120);
  // Three for those that the subject names, the last of which finds none, and three for the group itself.
  expect(engine.reads.filter((cursor) => cursor === undefined)).toHaveLength(6);
  await engine.close();
});

test("more relationships than the engine lists are removed too", async () => {
  const engine = await openEngine(2500, 1200);
  const listed = engine.removing.readRelationships({ subject: GROUP });
  await expect(listed).rejects.toMatchObject({ code: "RESOURCE_EXHAUSTED" });
  const { done, counts } = remove(engine.removing);
  await done;
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(2500);
  expect(await engine.left()).toBe(0);
  await engine.close();
});
