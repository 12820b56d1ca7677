/** Writes that are committed together have the same outcomes as if each were committed alone. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { createMemoryStore } from "../../src/authz/embedded/index.ts";
import { AuthzError } from "../../src/authz/engine/authz-error.ts";
import type { AuthorizationEngine } from "../../src/authz/engine/engine.ts";
import type { RelationshipStore } from "../../src/authz/engine/relationship-store.ts";
import type { WriteRequest } from "../../src/authz/engine/requests.ts";
import type { Relationship } from "../../src/model/relationship.ts";
import { formatRelationship } from "../../src/model/relationship-text.ts";
import {
  createOf,
  documentEngine,
  touchOf,
  viewersOf,
  views,
  writePair,
} from "./document-engine.ts";
import { nested, viewer } from "./documents.ts";

const relationships: readonly Relationship[] = [
  ...["d0", "d1"].flatMap((document) => ["u0", "u1"].map((user) => viewer(document, user))),
  ...["a", "b", "c"].flatMap((outer) => ["a", "b", "c"].map((inner) => nested(outer, inner))),
];
const arbitraryWrite: fc.Arbitrary<WriteRequest> = fc.record({
  updates: fc.uniqueArray(
    fc.record({
      operation: fc.constantFrom("CREATE" as const, "TOUCH" as const, "DELETE" as const),
      relationship: fc.constantFrom(...relationships),
    }),
    {
      minLength: 1,
      maxLength: 3,
      selector: ({ relationship }) => formatRelationship(relationship),
    },
  ),
  preconditions: fc.array(
    fc.record({
      kind: fc.constantFrom("MUST_MATCH" as const, "MUST_NOT_MATCH" as const),
      filter: fc.record({
        resourceType: fc.constant("document"),
        resourceId: fc.constantFrom("d0", "d1"),
      }),
    }),
    { maxLength: 1 },
  ),
});
/** How a commit ends. */
type End = "well" | "lost" | "unanswered";

test("concurrent writes have the outcomes of the same writes one at a time", async () => {
  let largest = 0;
  const ends = fc.constantFrom<End[]>("well", "well", "well", "lost", "unanswered");
  await fc.assert(
    fc.asyncProperty(
      fc.array(arbitraryWrite, { minLength: 1, maxLength: 100, size: "max" }),
      fc.array(ends, { maxLength: 6 }),
      async (requests, ends) => {
        const store = createMemoryStore();
        const engine = await documentEngine(store);
        const wrong: unknown[] = [];
        breakCommits(store, ends, async (writes) => {
          largest = Math.max(largest, writes.length);
          // No read sees uncommitted writes.
          if ((await contents(engine)).join() !== (await stored(store)).join()) wrong.push(writes);
        });
        const acknowledged: { readonly request: WriteRequest; readonly outcome: string }[] = [];
        await Promise.all(
          requests.map(async (request) => {
            acknowledged.push({ request, outcome: await outcomeOf(engine, request) });
          }),
        );
        expect(wrong).toEqual([]);
        const alone = await documentEngine(createMemoryStore());
        for (const { request, outcome } of acknowledged) {
          if (outcome === "UNAVAILABLE") continue;
          expect(await outcomeOf(alone, request)).toBe(outcome);
        }
        expect(await contents(engine)).toEqual(await contents(alone));
        expect(await stored(store)).toEqual(await contents(alone));
        // One change per write, in the order of the acknowledgements.
        const changes = await store.changesAfter(0, 1000);
        const written = acknowledged.filter(({ outcome }) => outcome === "written");
        expect(changes?.map(({ updates }) => updates)).toEqual(
          written.map(({ request }) => request.updates),
        );
        if (ends.length === 0) expect(acknowledged.map(({ request }) => request)).toEqual(requests);
      },
    ),
    { numRuns: 200 },
  );
  expect(largest).toBeGreaterThan(10);
});

test("a refusal because of an uncommitted write is UNAVAILABLE if the commit fails", async () => {
  const store = createMemoryStore();
  const engine = await documentEngine(store);
  await engine.writeRelationships({ updates: [createOf(viewer("old", "u"))] });
  breakCommits(store, ["lost"]);
  const write = (name: string) => outcomeOf(engine, { updates: [createOf(viewer(name, "u"))] });
  const outcomes = ["old", "new", "new", "old"].map(write);
  expect(await Promise.all(outcomes)).toEqual([
    "ALREADY_EXISTS",
    "UNAVAILABLE",
    "UNAVAILABLE",
    "UNAVAILABLE",
  ]);
  expect(await write("new")).toBe("written");
});

test("a write that is cancelled before its commit is not made", async () => {
  const engine = await documentEngine(createMemoryStore());
  const cancelled = new AbortController();
  const late = new AbortController();
  const write = (name: string, signal?: AbortSignal) =>
    outcomeOf(engine, { updates: [touchOf(viewer(name, "u"))] }, signal);
  const outcomes = [
    write("first"),
    write("gone", cancelled.signal),
    write("late", late.signal),
    write("last"),
  ];
  cancelled.abort();
  late.abort(new DOMException("too late", "TimeoutError"));
  expect(await Promise.all(outcomes)).toEqual([
    "written",
    "CANCELLED",
    "DEADLINE_EXCEEDED",
    "written",
  ]);
  expect(await viewersOf(engine)).toEqual(new Set(["first@u", "last@u"]));
});

test("a group whose outcome is known only later is stored completely or not at all", async () => {
  for (const end of ["lost", "unanswered"] as const) {
    const store = createMemoryStore();
    const engine = await documentEngine(store);
    breakCommits(store, [end]);
    let isDown = true;
    store.recover = async () => {
      if (isDown) throw new AuthzError("UNAVAILABLE", "the server is down");
    };
    const documents = ["a", "b", "c"];
    const writes = documents.map((document) => writePair(engine, document));
    for (const { status } of await Promise.allSettled(writes)) expect(status).toBe("rejected");
    expect(await engine.ready()).toMatchObject({ ready: false, reason: "the server is down" });
    expect(await viewersOf(engine)).toEqual(new Set());
    isDown = false;
    expect(await engine.ready()).toEqual({ ready: true });
    for (const document of documents) {
      expect(await views(engine, document, "left")).toBe(end === "unanswered");
    }
  }
});

test("a store with only a part of a group is no longer trusted", async () => {
  const store = createMemoryStore();
  const engine = await documentEngine(store);
  const { commit } = store;
  store.commit = async (writes) => {
    await commit.call(store, writes.slice(1));
    throw new AuthzError("UNAVAILABLE", "the connection broke");
  };
  const writes = ["a", "b", "c"].map((document) => writePair(engine, document));
  for (const { status } of await Promise.allSettled(writes)) expect(status).toBe("rejected");
  await expect(views(engine, "a", "left")).rejects.toMatchObject({ code: "UNAVAILABLE" });
  expect(await engine.ready()).toMatchObject({ ready: false });
});

/** Makes the next commits fail: `lost` before anything is stored, `unanswered` after it is stored. */
function breakCommits(
  store: RelationshipStore,
  ends: readonly End[],
  look: (writes: Parameters<RelationshipStore["commit"]>[0]) => Promise<void> = async () =>
    undefined,
): void {
  const left = [...ends];
  const commit = store.commit.bind(store);
  store.commit = async (writes) => {
    const end = left.shift() ?? "well";
    await look(writes);
    if (end === "lost") throw new AuthzError("UNAVAILABLE", "the connection broke");
    const sequence = await commit(writes);
    if (end === "unanswered") throw new AuthzError("UNAVAILABLE", "the connection broke");
    return sequence;
  };
}

async function outcomeOf(
  engine: AuthorizationEngine,
  request: WriteRequest,
  signal?: AbortSignal,
): Promise<string> {
  try {
    await engine.writeRelationships(request, signal === undefined ? {} : { signal });
    return "written";
  } catch (error) {
    return (error as AuthzError).code;
  }
}

async function contents(engine: AuthorizationEngine): Promise<string[]> {
  return (await engine.readRelationships({})).items.map(formatRelationship).sort();
}

async function stored(store: RelationshipStore): Promise<string[]> {
  const found: string[] = [];
  for await (const batch of store.load()) found.push(...batch.map(formatRelationship));
  return found.sort();
}
