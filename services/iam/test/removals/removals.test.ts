/** Deletion across the database and the authorization model, also where it is cut off. */
import { readFileSync } from "node:fs";
import {
  type AuthorizationEngine,
  createSpicedbEngine,
  parseModel,
  type Relationship,
  type SpicedbEngine,
} from "svc-access/authz";
import { testEngine } from "svc-access/testing";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import {
  type SpicedbServer,
  spicedbIsAbsent,
  startSpicedb,
} from "../../../../test/support/spicedb.ts";
import type { RemovingEngine } from "../../src/removals/relationship-removal.ts";
import { Removals } from "../../src/removals/removals.ts";
import type { IamTables } from "../../src/store/tables.ts";
import { postgres, sqlite, type TestDatabase } from "../support/databases.ts";

const MODEL = new URL("../../../../model/iam.zed", import.meta.url).pathname;
const START = 1_800_000_000_000;
const MANY = 1203;
const { signal } = new AbortController();

const toGroup = (group: string, user: string): Relationship => ({
  resource: { type: "group", id: group },
  relation: "member",
  subject: { type: "user", id: user },
});

describe.each([
  ["SQLite", async () => sqlite],
  ["PostgreSQL", postgres],
] as const)("in %s", async (_, prepare) => {
  const found: (() => Promise<TestDatabase>) | undefined = await prepare();
  if (found === undefined) return;
  const create = found;

  let engine: Awaited<ReturnType<typeof testEngine>>;
  beforeAll(async () => {
    engine = await testEngine({ model: MODEL });
  });
  afterAll(() => engine.close());

  let database: ReturnType<TestDatabase["open"]>;
  let now = START;
  beforeEach(async () => {
    database = (await create()).open();
    now = START;
  });
  const tables = () => database.as<IamTables>();

  function begin(over: Partial<RemovingEngine> = {}) {
    const deleted: string[] = [];
    const removing: RemovingEngine = {
      readRelationships: (...request) => engine.readRelationships(...request),
      writeRelationships: (...request) => engine.writeRelationships(...request),
      ...over,
    };
    const removals = new Removals({ database: tables(), engine: removing, now: () => now });
    removals.register({
      name: "user",
      objectType: "user",
      async deleteRecord(_, id) {
        deleted.push(id);
      },
    });
    const remove = (id: string) => tables().inTransaction((tx) => removals.add(tx, "user", id));
    return { removals, deleted, remove };
  }

  const write = (relationships: readonly Relationship[]) =>
    engine.writeRelationships({
      updates: relationships.map((relationship) => ({ operation: "TOUCH", relationship })),
    });
  async function countOf(id: string): Promise<number> {
    const { items } = await engine.readRelationships({ subject: { type: "user", id } });
    return items.length;
  }
  const rows = () => tables().kysely.selectFrom("iam_removals").selectAll().execute();
  const formerIds = async () =>
    (await tables().kysely.selectFrom("iam_former_ids").selectAll().execute()).map(
      ({ type, id }) => `${type}:${id}`,
    );
  const samples = async (removals: Removals) =>
    Object.fromEntries(
      await Promise.all(
        removals.metrics.map(async ({ name, read }) => [name, (await read())[0]?.value] as const),
      ),
    );

  test("relationships go first, in batches, and the record last [IAM-13]", async () => {
    const writes: number[] = [];
    const { removals, deleted, remove } = begin({
      writeRelationships: (request, options) => {
        writes.push(request.updates.length);
        return engine.writeRelationships(request, options);
      },
    });
    const groups = Array.from({ length: MANY }, (_, index) => toGroup(`g${index}`, "alice"));
    for (let at = 0; at < MANY; at += 1000) await write(groups.slice(at, at + 1000));
    await write([toGroup("g1", "bob")]);
    await remove("alice");
    expect(await samples(removals)).toMatchObject({ iam_removals_pending: 1 });
    await removals.run(signal);
    expect(await countOf("alice")).toBe(0);
    expect(writes).toEqual([500, 500, 203]);
    expect(deleted).toEqual([]);
    now += 29_999;
    await removals.run(signal);
    expect(deleted).toEqual([]);
    now += 1;
    await removals.run(signal);
    expect(deleted).toEqual(["alice"]);
    expect(await rows()).toEqual([]);
    expect(await formerIds()).toEqual(["user:alice"]);
    expect(await countOf("bob")).toBe(1);
    expect(await samples(removals)).toEqual({
      iam_removals_pending: 0,
      iam_removals_oldest_seconds: 0,
      iam_removed_relationships_total: MANY,
    });
  });

  test("a relationship that was written meanwhile is removed before the record goes", async () => {
    const { removals, deleted, remove } = begin();
    await remove("carol");
    await removals.run(signal);
    await write([toGroup("late", "carol")]);
    now += 30_000;
    await removals.run(signal);
    expect(await countOf("carol")).toBe(0);
    expect(deleted).toEqual([]);
    now += 30_000;
    await removals.run(signal);
    expect(deleted).toEqual(["carol"]);
  });

  test("what was cut off is continued by another process, and nothing is lost [IAM-13]", async () => {
    await write(Array.from({ length: 700 }, (_, index) => toGroup(`c${index}`, "dave")));
    const stopped = new AbortController();
    const first = begin({
      async writeRelationships(request, options) {
        const result = await engine.writeRelationships(request, options);
        stopped.abort(new Error("the server stops"));
        return result;
      },
    });
    await first.remove("dave");
    await expect(first.removals.run(stopped.signal)).rejects.toThrow("the server stops");
    expect(await countOf("dave")).toBe(200);
    expect((await rows())[0]).toMatchObject({ id: "dave" });
    const second = begin();
    await second.removals.run(signal);
    now += 30_000;
    await second.removals.run(signal);
    expect(second.deleted).toEqual(["dave"]);
    expect(first.deleted).toEqual([]);
  });

  test("one that fails does not hold up the others, and waits longer each time", async () => {
    let isDown = true;
    const { removals, deleted, remove } = begin({
      async readRelationships(filter, page, options) {
        if (isDown && filter.subject?.id === "erin") throw new Error("the engine is down");
        return engine.readRelationships(filter, page, options);
      },
    });
    await remove("erin");
    await remove("frank");
    await expect(removals.run(signal)).rejects.toThrow("the engine is down");
    now += 9_999;
    await removals.run(signal);
    now += 1;
    await expect(removals.run(signal)).rejects.toThrow("the engine is down");
    now += 20_000;
    await expect(removals.run(signal)).rejects.toThrow("the engine is down");
    expect(deleted).toEqual(["frank"]);
    isDown = false;
    now += 40_000;
    await removals.run(signal);
    now += 30_000;
    await removals.run(signal);
    expect(deleted).toEqual(["frank", "erin"]);
  });

  test("what is added in a transaction that fails is not removed", async () => {
    const { removals, deleted } = begin();
    await expect(
      tables().inTransaction(async (tx) => {
        await removals.add(tx, "user", "gina");
        throw new Error("refused");
      }),
    ).rejects.toThrow("refused");
    await removals.run(signal);
    expect(deleted).toEqual([]);
    expect(await rows()).toEqual([]);
  });

  test("an object that is added twice is removed once, and two processes at once do no harm", async () => {
    const { removals, deleted, remove } = begin();
    await write([toGroup("g", "hugo")]);
    await remove("hugo");
    await remove("hugo");
    await Promise.all([removals.run(signal), removals.run(signal)]);
    now += 30_000;
    await Promise.all([removals.run(signal), removals.run(signal)]);
    expect(new Set(deleted)).toEqual(new Set(["hugo"]));
    expect(await rows()).toEqual([]);
  });
});

test("a kind that nobody has registered is refused", async () => {
  const database = (await sqlite()).open().as<IamTables>();
  const removals = new Removals({ database, engine: {} as AuthorizationEngine });
  await expect(database.inTransaction((tx) => removals.add(tx, "user", "alice"))).rejects.toThrow(
    "there is no kind of removal user",
  );
  const kind = { name: "user", objectType: "user", deleteRecord: vi.fn() };
  removals.register(kind);
  expect(() => removals.register(kind)).toThrow("two kinds of removal user");
});

describe.skipIf(spicedbIsAbsent())("with SpiceDB", () => {
  let spicedb: SpicedbServer;
  let engine: SpicedbEngine;
  beforeAll(async () => {
    spicedb = await startSpicedb();
    const { endpoint, token } = spicedb;
    const text = readFileSync(MODEL, "utf8");
    const { model } = parseModel(text, MODEL);
    engine = await createSpicedbEngine({ model, endpoint, token, insecure: true });
    await engine.writeSchema(text);
  });
  afterAll(async () => {
    await engine?.close();
    await spicedb?.stop();
  });

  test("all that names an object goes: as a subject, as a set of subjects, and as a resource [IAM-13]", async () => {
    const database = (await sqlite()).open().as<IamTables>();
    let now = START;
    const removals = new Removals({ database, engine, now: () => now });
    const deleted: string[] = [];
    removals.register({
      name: "group",
      objectType: "group",
      async deleteRecord(_, id) {
        deleted.push(id);
      },
    });
    const ops = { type: "group", id: "ops" };
    const relationships: Relationship[] = [
      ...Array.from({ length: 620 }, (_, index) => toGroup("ops", `u${index}`)),
      { resource: ops, relation: "zone", subject: { type: "zone", id: "acme" } },
      {
        resource: { type: "zone", id: "acme" },
        relation: "admin",
        subject: { ...ops, relation: "member" },
      },
      { resource: { type: "group", id: "below" }, relation: "parent", subject: ops },
      toGroup("other", "u1"),
    ];
    const updates = relationships.map(
      (one) => ({ operation: "TOUCH", relationship: one }) as const,
    );
    await engine.writeRelationships({ updates });
    await database.inTransaction((tx) => removals.add(tx, "group", "ops"));
    await removals.run(signal);
    const left = await engine.readRelationships({}, undefined, { newest: true });
    expect(left.items).toEqual([toGroup("other", "u1")]);
    now += 30_000;
    await removals.run(signal);
    expect(deleted).toEqual(["ops"]);
  });
});
