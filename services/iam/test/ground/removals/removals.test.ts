/** Removals of the records of the service, also those that a former version has recorded. */
import { readFileSync } from "node:fs";
import { createSpicedbEngine, parseModel, type Relationship } from "svc-access/authz";
import { testEngine } from "svc-access/testing";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { spicedbIsAbsent, startSpicedb } from "../../../../../test/support/spicedb.ts";
import { moveFormerRemovals } from "../../../src/ground/removals/former-removals.ts";
import { openIamRemovals, REMOVALS_JOB } from "../../../src/ground/removals/removals.ts";
import type { IamTables } from "../../../src/ground/store/tables.ts";
import { postgres, sqlite, type TestDatabase } from "../../support/databases.ts";
import { removalsIn } from "./pending-removals.ts";

const MODEL = new URL("../../../../../model/iam.zed", import.meta.url).pathname;
const START = 1_800_000_000_000;
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

  let stored: TestDatabase;
  let now = START;
  beforeEach(async () => {
    stored = await create();
    now = START;
  });

  /** The removals of one process. */
  async function begin() {
    const database = stored.open().as<IamTables>();
    const removals = await openIamRemovals({ database, engine, now: () => now });
    const deleted: string[] = [];
    removals.register({
      name: "user",
      objectType: "user",
      async deleteRecord(_, id) {
        deleted.push(id);
      },
    });
    return { database, removals, deleted };
  }
  const formerIds = async ({ database }: Awaited<ReturnType<typeof begin>>) =>
    (await database.kysely.selectFrom("iam_former_ids").selectAll().execute()).map(
      ({ type, id, deleted_time }) => `${type}:${id} ${Number(deleted_time)}`,
    );
  const pending = async ({ database }: Awaited<ReturnType<typeof begin>>) =>
    (await removalsIn(database).selectFrom("pending_removals").select("id").execute()).map(
      ({ id }) => id,
    );
  /** Records removals as the version before the runtime had them. */
  async function addFormer({ database }: Awaited<ReturnType<typeof begin>>, ids: string[]) {
    const times = { create_time: START - 5000, due_time: START, empty_time: null, failures: 3 };
    for (const id of ids) {
      const row = { kind: "user", id, ...times };
      await database.kysely.insertInto("iam_removals").values(row).execute();
    }
  }

  test("the id of what was removed is known from then on", async () => {
    const replica = await begin();
    await replica.database.inTransaction((tx) => replica.removals.add(tx, "user", "alice"));
    await replica.removals.run(signal);
    expect(await formerIds(replica)).toEqual([]);
    now += 30_000;
    await replica.removals.run(signal);
    expect(replica.deleted).toEqual(["alice"]);
    expect(await formerIds(replica)).toEqual([`user:alice ${now}`]);
  });

  test("what a former version has recorded is completed, and nothing is lost [IAM-13]", async () => {
    const replica = await begin();
    const ids = Array.from({ length: 230 }, (_, index) => `u${index}`).toSorted();
    await addFormer(replica, ids);
    await engine.writeRelationships({
      updates: [{ operation: "TOUCH", relationship: toGroup("g", "u7") }],
    });
    await replica.removals.job.run(signal);
    expect(await replica.database.kysely.selectFrom("iam_removals").selectAll().execute()).toEqual(
      [],
    );
    expect((await pending(replica)).toSorted()).toEqual(ids);
    const { items } = await engine.readRelationships({ subject: { type: "user", id: "u7" } });
    expect(items).toEqual([]);
    now += 30_000;
    await replica.removals.job.run(signal);
    expect(replica.deleted.toSorted()).toEqual(ids);
    expect(await formerIds(replica)).toHaveLength(230);
    expect(await pending(replica)).toEqual([]);
  });

  test("what a former replica records while replicas are replaced is completed, too", async () => {
    const replica = await begin();
    await replica.removals.job.run(signal);
    await addFormer(replica, ["late"]);
    await replica.removals.job.run(signal);
    now += 30_000;
    await replica.removals.job.run(signal);
    expect(replica.deleted).toEqual(["late"]);
  });

  test("where the move fails, all is where it was; two at once move each once", async () => {
    const [first, second] = [await begin(), await begin()];
    await addFormer(first, ["a", "b", "c"]);
    const left = () => first.database.kysely.selectFrom("iam_removals").selectAll().execute();
    let added = 0;
    const failing = {
      async add() {
        if (++added === 2) throw new Error("the process ends");
      },
    };
    const failed = moveFormerRemovals(first.database, failing, signal);
    await expect(failed).rejects.toThrow("the process ends");
    expect(await left()).toHaveLength(3);
    await Promise.all([
      moveFormerRemovals(first.database, first.removals, signal),
      moveFormerRemovals(second.database, second.removals, signal),
    ]);
    expect(await left()).toEqual([]);
    expect((await pending(first)).toSorted()).toEqual(["a", "b", "c"]);
  });

  test("where the move fails, the removals of this version still run, and the job fails", async () => {
    const replica = await begin();
    await replica.database.inTransaction((tx) => replica.removals.add(tx, "user", "alice"));
    await replica.removals.run(signal);
    now += 30_000;
    const { schema } = replica.database.kysely;
    await schema.alterTable("iam_removals").renameTo("iam_removals_gone").execute();
    await expect(replica.removals.job.run(signal)).rejects.toThrow("iam_removals");
    expect(replica.deleted).toEqual(["alice"]);
  });

  test("the job has the name by which a running replica is known", async () => {
    const { removals } = await begin();
    const { name, every } = removals.job;
    expect({ name, every }).toEqual({
      name: REMOVALS_JOB.name,
      every: `${REMOVALS_JOB.everyMs / 1000}s`,
    });
  });
});

describe.skipIf(spicedbIsAbsent())("with SpiceDB", () => {
  test("all that names an object goes: as a subject, as a set of subjects, and as a resource [IAM-13]", async () => {
    const { endpoint, token, stop } = await startSpicedb();
    const text = readFileSync(MODEL, "utf8");
    const { model } = parseModel(text, MODEL);
    const engine = await createSpicedbEngine({ model, endpoint, token, insecure: true });
    try {
      await engine.writeSchema(text);
      const database = (await sqlite()).open().as<IamTables>();
      let now = START;
      const removals = await openIamRemovals({ database, engine, now: () => now });
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
    } finally {
      await engine.close();
      await stop();
    }
  });
});
