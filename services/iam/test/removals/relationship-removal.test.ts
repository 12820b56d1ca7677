import {
  AuthzError,
  createEmbeddedEngine,
  createMemoryStore,
  parseModel,
  type RelationshipUpdate,
} from "svc-access/authz";
import { expect, test } from "vitest";
import {
  type RemovingEngine,
  removeRelationshipsOf,
} from "../../src/removals/relationship-removal.ts";

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
async function openEngine(projects: number) {
  const { model } = parseModel(SCHEMA, "removal.zed");
  const engine = await createEmbeddedEngine({ model, store: createMemoryStore() });
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
  const done = removeRelationshipsOf(engine, GROUP, signal, (count) => counts.push(count));
  return { done, counts };
}

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

test("an engine orders many relationships a few times, and not for each write", async () => {
  const engine = await openEngine(60_000);
  const { done, counts } = remove(engine.removing);
  await done;
  expect(Math.max(...counts)).toBe(500);
  expect(counts).toHaveLength(120);
  // Two for those that the subject names, one that finds none of them, one that finds none of the group itself.
  expect(engine.reads.filter((cursor) => cursor === undefined)).toHaveLength(4);
  await engine.close();
});
