import { expect, it } from "vitest";
import { createEmbeddedEngine, createMemoryStore } from "../../../src/authz/embedded/index.ts";
import type { AuthorizationEngine } from "../../../src/authz/engine/engine.ts";
import type { RelationshipStore } from "../../../src/authz/engine/relationship-store.ts";
import type { CallOptions, CheckRequest } from "../../../src/authz/engine/requests.ts";
import { parseModel } from "../../../src/model/index.ts";
import type { Relationship } from "../../../src/model/relationship.ts";
import { IS_THOROUGH } from "../../support/effort.ts";
import { engineOf, relationshipOf, updateOf, writeAll } from "./engine-of.ts";

const SCHEMA = `definition user {}
definition folder {
  relation parent: folder
  relation reader: user
  permission view = reader + parent->view
}
definition doc {
  relation reader: user
  permission view = reader
}`;

const x = { type: "user", id: "x" };
const doc = { type: "doc", id: "a" };

/** A store that generates its relationships as they are read. */
function storeOf(load: () => Iterable<Relationship>): RelationshipStore {
  return Object.assign(createMemoryStore(), {
    async *load() {
      let batch: Relationship[] = [];
      for (const relationship of load()) {
        if (batch.push(relationship) < 10_000) continue;
        yield batch;
        batch = [];
      }
      yield batch;
    },
  });
}

const MANY = 200_000;
const CHAIN = 300;

function* many(): Generator<Relationship> {
  for (let index = 0; index < MANY; index++) {
    yield { resource: { type: "doc", id: `d${index}` }, relation: "reader", subject: x };
    yield { resource: doc, relation: "reader", subject: { type: "user", id: `u${index}` } };
  }
  for (let index = 0; index < CHAIN; index++) {
    yield relationshipOf(`folder:f${index}#parent@folder:f${index + 1}`);
  }
}

const deep: CheckRequest = {
  resource: { type: "folder", id: "f0" },
  permission: "view",
  subject: x,
};
const lookup = { resourceType: "doc", permission: "view", subject: x };

it("long calls end when their signal is aborted", async () => {
  const engine = await engineOf(SCHEMA, storeOf(many));
  const calls: [string, (options: CallOptions) => Promise<unknown>][] = [
    ["lookupResources", (options) => engine.lookupResources(lookup, options)],
    [
      "lookupSubjects",
      (options) =>
        engine.lookupSubjects({ resource: doc, permission: "view", subjectType: "user" }, options),
    ],
    ["readRelationships", (options) => engine.readRelationships({}, {}, options)],
    ["checkBulk", (options) => engine.checkBulk(Array<CheckRequest>(10_000).fill(deep), options)],
  ];
  for (const [name, call] of calls) {
    const controller = new AbortController();
    setImmediate(() => controller.abort());
    await expect(call(controller), name).rejects.toMatchObject({ code: "CANCELLED" });
  }
});

it("a write during a long listing is in it completely or not at all", async () => {
  const engine = await engineOf(SCHEMA, storeOf(many));
  const listing = engine.lookupResources(lookup);
  await new Promise(setImmediate);
  // They sort before all others.
  const { revision } = await engine.writeRelationships({
    updates: [updateOf("doc:0#reader@user:x")],
  });
  const page = await listing;
  expect(page.items.includes("0")).toBe(page.revision === revision);
  const { nextCursor: cursor = "" } = page;
  if (page.revision !== revision) return;
  expect((await engine.lookupResources({ ...lookup, cursor })).items).toHaveLength(1000);
});

it("the number of results of a listing is limited", async () => {
  const { model } = parseModel(SCHEMA, "test.zed");
  const store = createMemoryStore(
    ["x", "y", "z"].map((id) => relationshipOf(`doc:a#reader@user:${id}`)),
  );
  const engine = await createEmbeddedEngine({ model, store, maxResults: 3 });
  const calls = [
    () => engine.lookupResources(lookup),
    () => engine.lookupSubjects({ resource: doc, permission: "view", subjectType: "user" }),
    () => engine.readRelationships({}),
  ];
  for (const call of calls) expect((await call()).items.length).toBeGreaterThan(0);
  await writeAll(
    engine,
    ["a", "b", "c", "d"].map((id) => `doc:${id}#reader@user:x`),
  );
  await writeAll(engine, ["doc:a#reader@user:last"]);
  const code = "RESOURCE_EXHAUSTED";
  for (const call of calls) await expect(call()).rejects.toMatchObject({ code });
  // It is on none of them.
  expect((await engine.checkAny(lookup)).allowed).toBe(true);
});

it.runIf(IS_THOROUGH)(
  "a listing of a million results succeeds, and one more is refused",
  async () => {
    const engine = await engineOf(
      SCHEMA,
      storeOf(function* () {
        for (let index = 0; index < 1_000_000; index++) {
          yield { resource: doc, relation: "reader", subject: { type: "user", id: `u${index}` } };
        }
      }),
    );
    const request = { resource: doc, permission: "view", subjectType: "user" };
    expect((await engine.lookupSubjects(request)).items).toHaveLength(1000);
    await writeAll(engine, ["doc:a#reader@user:last"]);
    const code = "RESOURCE_EXHAUSTED";
    await expect(engine.lookupSubjects(request)).rejects.toMatchObject({ code });
  },
  300_000,
);

it("a watch from a revision that is no longer kept is refused", async () => {
  const store = createMemoryStore();
  const engine = await engineOf(SCHEMA, store);
  const { revision } = await engine.check({ resource: doc, permission: "view", subject: x });
  await writeAll(engine, ["doc:a#reader@user:x"]);
  store.changesAfter = async () => undefined;
  const first = engine.watch(revision)[Symbol.asyncIterator]().next();
  await expect(first).rejects.toMatchObject({ code: "OUT_OF_RANGE" });
});

const texts = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
const token = (text: string) => Buffer.from(text).toString("base64url");

async function refusal(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => "answered",
    (error) => error.code,
  );
}

async function firstPage(): Promise<{ engine: AuthorizationEngine; cursor: string }> {
  const engine = await engineOf(SCHEMA);
  await writeAll(engine, ["doc:a#reader@user:x", "doc:b#reader@user:x"]);
  const { nextCursor = "" } = await engine.lookupResources({ ...lookup, pageSize: 1 });
  return { engine, cursor: nextCursor };
}

it.each<[what: string, cursor: (cursor: string) => unknown, code: string]>([
  ["empty", () => "", "INVALID_ARGUMENT"],
  ["no text", () => 5, "INVALID_ARGUMENT"],
  ["null", () => null, "INVALID_ARGUMENT"],
  ["no base64url", () => "ä%%%", "INVALID_ARGUMENT"],
  ["with trailing characters", (cursor) => `${cursor}!`, "INVALID_ARGUMENT"],
  ["truncated", (cursor) => cursor.slice(0, -3), "INVALID_ARGUMENT"],
  ["JSON that is not a list", () => texts({}), "INVALID_ARGUMENT"],
  ["of another version", (cursor) => changed(cursor, 0, "2:embedded-cursor"), "INVALID_ARGUMENT"],
  ["without a listing", (cursor) => changed(cursor, 1, 7), "INVALID_ARGUMENT"],
  ["of another listing", (cursor) => changed(cursor, 1, "other"), "INVALID_ARGUMENT"],
  ["a number below 0", (cursor) => changed(cursor, 2, -1), "INVALID_ARGUMENT"],
  ["half a number", (cursor) => changed(cursor, 2, 0.5), "INVALID_ARGUMENT"],
  ["a number as text", (cursor) => changed(cursor, 2, "1"), "INVALID_ARGUMENT"],
  ["without a last result", (cursor) => changed(cursor, 3, null), "INVALID_ARGUMENT"],
  ["of an earlier state", (cursor) => changed(cursor, 2, 0), "OUT_OF_RANGE"],
  ["of a later state", (cursor) => changed(cursor, 2, 9), "OUT_OF_RANGE"],
  ["its own", (cursor) => cursor, "answered"],
])("a cursor: %s", async (_, forge, code) => {
  const { engine, cursor } = await firstPage();
  const request = { ...lookup, cursor: forge(cursor) as string };
  expect(await refusal(engine.lookupResources(request))).toBe(code);
});

function changed(cursor: string, place: number, value: unknown): string {
  const parts = JSON.parse(Buffer.from(cursor, "base64url").toString()) as unknown[];
  return texts(parts.with(place, value));
}

it.each<[what: string, revision: (storeId: string) => unknown, code: string]>([
  ["empty", () => "", "INVALID_ARGUMENT"],
  ["no text", () => 5, "INVALID_ARGUMENT"],
  ["null", () => null, "INVALID_ARGUMENT"],
  ["no base64url", () => "ä%%%", "INVALID_ARGUMENT"],
  ["without a number", (id) => token(`1:embedded::${id}`), "INVALID_ARGUMENT"],
  ["a number below 0", (id) => token(`1:embedded:-1:${id}`), "INVALID_ARGUMENT"],
  ["half a number", (id) => token(`1:embedded:0.5:${id}`), "INVALID_ARGUMENT"],
  ["a number that is too large", (id) => token(`1:embedded:1e99:${id}`), "INVALID_ARGUMENT"],
  ["of another version", (id) => token(`2:embedded:1:${id}`), "INVALID_ARGUMENT"],
  ["of another engine", (id) => token(`1:spicedb:1:${id}`), "INVALID_ARGUMENT"],
  ["of another store", () => token("1:embedded:1:other"), "INVALID_ARGUMENT"],
  ["padded", (id) => `${token(`1:embedded:1:${id}`)}=`, "INVALID_ARGUMENT"],
  ["of a later state", (id) => token(`1:embedded:9:${id}`), "FAILED_PRECONDITION"],
  ["its own", (id) => token(`1:embedded:1:${id}`), "answered"],
])("a revision token: %s", async (_, forge, code) => {
  const store = createMemoryStore();
  const engine = await engineOf(SCHEMA, store);
  await writeAll(engine, ["doc:a#reader@user:x"]);
  const atLeastAsFresh = forge(store.id) as string;
  expect(await refusal(engine.check(deep, { atLeastAsFresh }))).toBe(code);
  if (code === "answered") return;
  const first = engine.watch(atLeastAsFresh)[Symbol.asyncIterator]().next();
  expect(await refusal(first)).toBe(code);
});
