/** Creation and deletion across the database and the authorization model, where they are cut off. */
import { randomUUID } from "node:crypto";
import { type AuthorizationEngine, AuthzError } from "svc-access/authz";
import { testEngine } from "svc-access/testing";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { GroupCreation } from "../../../src/api/groups/group-creation.ts";
import { GroupDeletion } from "../../../src/api/groups/group-deletion.ts";
import { GroupMembers } from "../../../src/api/groups/group-members.ts";
import { GroupRecords } from "../../../src/api/groups/group-records.ts";
import { GroupTree, zoneOf } from "../../../src/api/groups/group-tree.ts";
import { PlaceRights } from "../../../src/api/groups/place-rights.ts";
import { UnfinishedGroups } from "../../../src/api/groups/unfinished-groups.ts";
import { openIamRemovals, type Removals } from "../../../src/ground/removals/removals.ts";
import type { IamTables } from "../../../src/ground/store/tables.ts";
import { RelationshipRules } from "../../../src/rights/relationship-rules.ts";
import { writeDecided } from "../../../src/rights/write-decided.ts";
import { PAGE_TOKENS } from "../../rights/rights-engine.ts";
import { postgres, sqlite, type TestDatabase } from "../../support/databases.ts";

const MODEL = new URL("../../../../../model/iam.zed", import.meta.url).pathname;
const START = 1_800_000_000_000;
const YOUNG = 10_000;
const SETTLED = 60_000;
const OLD = 700_000;
const { signal } = new AbortController();
const ROOT = { subjectType: "user", subjectId: "root" };

describe.each([
  ["SQLite", async () => sqlite],
  ["PostgreSQL", postgres],
] as const)("in %s", async (_, prepare) => {
  const found: (() => Promise<TestDatabase>) | undefined = await prepare();
  if (found === undefined) return;
  const create = found;

  let engine: Awaited<ReturnType<typeof testEngine>>;
  beforeAll(async () => {
    engine = await testEngine({
      model: MODEL,
      relationships: ["zone:acme#owner@user:root", "zone:acme#group_manager@user:manager"],
    });
  });
  afterAll(() => engine.close());

  let now = START;
  let records: GroupRecords;
  let removals: Removals;
  beforeEach(async () => {
    const database = (await create()).open().as<IamTables>();
    now = START;
    removals = await openIamRemovals({ database, engine, now: () => now });
    records = new GroupRecords(database, removals, () => now);
    removals.register({
      name: "group",
      objectType: "group",
      deleteRecord: (transaction, id) => records.delete(transaction, id),
    });
  });

  /** The engine, with another way to write. */
  const writingBy = (write: AuthorizationEngine["writeRelationships"]): AuthorizationEngine =>
    new Proxy(engine, {
      get(target, name) {
        if (name === "writeRelationships") return write;
        const value = Reflect.get(target, name, target);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
  /** The engine of a process that ends at its write: before it, or before it learns of it. */
  const endingAt = (moment: "before" | "after"): AuthorizationEngine =>
    writingBy(async (...request) => {
      if (moment === "after") await engine.writeRelationships(...request);
      throw new AuthzError("UNAVAILABLE", "the process has ended");
    });
  function partsWith(used: AuthorizationEngine, wait = async () => {}) {
    const tree = new GroupTree(used);
    const rights = new PlaceRights(used, records);
    return {
      creation: new GroupCreation({ engine: used, records, tree, rights }),
      deletion: new GroupDeletion({
        engine: used,
        records,
        tree,
        places: rights,
        rules: new RelationshipRules(used),
        lastOwner: {
          guard: async (_change, _signal, work) => {
            await wait();
            return work([], (run) => run());
          },
        },
      }),
      unfinished: new UnfinishedGroups(records, tree),
    };
  }
  const group = { organizationId: "acme", parentId: "", displayName: "Group" };
  const begin = (used: AuthorizationEngine) => partsWith(used).creation.create(ROOT, group, signal);
  const runJob = () => partsWith(engine).unfinished.run(signal);
  const shown = () => records.list("acme", "", 10);
  const known = () => records.unfinished(10);

  test("a group is not shown before its relationships are stored, and is completed if they are", async () => {
    await expect(begin(endingAt("after"))).rejects.toThrow("the process has ended");
    expect(await shown()).toEqual([]);
    now += YOUNG;
    await runJob();
    expect(await shown()).toEqual([]);
    now += SETTLED;
    await runJob();
    expect(await shown()).toMatchObject([{ displayName: "Group", organizationId: "acme" }]);
    expect(await known()).toEqual([]);
  });

  test("a group without relationships is discarded once no call can store them any more", async () => {
    await expect(begin(endingAt("before"))).rejects.toThrow("the process has ended");
    now += SETTLED;
    await runJob();
    expect(await known()).toHaveLength(1);
    now += OLD;
    await runJob();
    expect([await known(), await shown()]).toEqual([[], []]);
  });

  test("a call that is so slow that its group was discarded takes back what it wrote", async () => {
    const slow = writingBy(async (...request) => {
      const [id] = (await known()).map((one) => one.id);
      if (id !== undefined) {
        now += OLD;
        await runJob();
      }
      return engine.writeRelationships(...request);
    });
    await expect(begin(slow)).rejects.toMatchObject({ code: "UNAVAILABLE" });
    expect(await shown()).toEqual([]);
    const { items } = await engine.readRelationships({ resourceType: "group", relation: "zone" });
    const ids = items.map(({ resource }) => resource.id);
    expect([...(await records.findAll(ids)).keys()]).toEqual([]);
  });

  test("what a group is granted while its deletion waits is decided, too [IAM-6]", async () => {
    const made = await begin(engine);
    const granted = {
      resource: { type: "organization", id: "o1" },
      relation: "owner",
      subject: { type: "group", id: made.id, relation: "member" },
    };
    const updates = [{ operation: "TOUCH", relationship: granted }] as const;
    const parts = partsWith(engine, async () => {
      await engine.writeRelationships({ updates });
    });
    const manager = { subjectType: "user", subjectId: "manager" };
    const deleted = parts.deletion.delete(manager, made, signal);
    await expect(deleted).rejects.toMatchObject({ code: "FORBIDDEN" });
    expect(await shown()).toMatchObject([{ id: made.id }]);
    const { items } = await engine.readRelationships({ subject: granted.subject });
    expect(items).toEqual([granted]);
  });

  test("a call that is repeated with its id continues, and never makes a deleted group again", async () => {
    const id = randomUUID();
    const repeat = (used: AuthorizationEngine) =>
      partsWith(used).creation.create(ROOT, group, signal, id);
    await expect(repeat(endingAt("before"))).rejects.toThrow("the process has ended");
    await expect(repeat(endingAt("after"))).rejects.toThrow("the process has ended");
    const made = await repeat(engine);
    expect([made.id, (await shown()).length]).toEqual([id, 1]);
    expect(await repeat(engine)).toEqual(made);
    await partsWith(engine).deletion.delete(ROOT, made, signal);
    await expect(repeat(engine)).rejects.toMatchObject({ code: "FAILED_PRECONDITION" });
    for (let run = 0; run < 2; run++) {
      await removals.run(signal);
      now += SETTLED;
    }
    await expect(repeat(engine)).rejects.toMatchObject({ code: "FAILED_PRECONDITION" });
    const { items } = await engine.readRelationships({ resourceType: "group", resourceId: id });
    expect([items, await shown()]).toEqual([[], []]);
  });

  test("a repeated call that is refused leaves what the first one has made", async () => {
    const id = randomUUID();
    const create = (used: AuthorizationEngine) =>
      partsWith(used).creation.create(ROOT, group, signal, id);
    await expect(create(endingAt("after"))).rejects.toThrow("the process has ended");
    const refused = writingBy(async () => {
      throw new AuthzError("FAILED_PRECONDITION", "a right was revoked meanwhile");
    });
    expect(await create(refused)).toMatchObject({ id });
    expect(await shown()).toMatchObject([{ id }]);
  });

  test("a deletion that was decided is completed, and the group is never shown again", async () => {
    const made = await begin(engine);
    const { deletion } = partsWith(endingAt("after"));
    await expect(deletion.delete(ROOT, made, signal)).rejects.toThrow("the process has ended");
    expect(await records.find(made.id)).toBeUndefined();
    now += SETTLED;
    await runJob();
    expect(await known()).toEqual([]);
    for (let run = 0; run < 2; run++) {
      await removals.run(signal);
      now += SETTLED;
    }
    expect(await records.advance(made.id, ["removing", "ready"], "ready")).toBe(false);
  });

  test("a deletion that was not decided is undone once no call can decide it any more", async () => {
    const made = await begin(engine);
    const { deletion } = partsWith(endingAt("before"));
    await expect(deletion.delete(ROOT, made, signal)).rejects.toThrow("the process has ended");
    now += SETTLED;
    await runJob();
    expect(await records.find(made.id)).toBeUndefined();
    now += OLD;
    await runJob();
    expect(await records.find(made.id)).toMatchObject({ displayName: "Group" });
  });

  /** The engine of a call that was decided just before somebody has deleted a group. */
  const afterDeletionOf = (id: string) =>
    writingBy(async (...request) => {
      const relationship = zoneOf(id, "acme");
      await engine.writeRelationships({ updates: [{ operation: "DELETE", relationship }] });
      return engine.writeRelationships(...request);
    });

  test("no group is made below one that was deleted after the decision, and nothing is left of it", async () => {
    const parent = await begin(engine);
    const { creation } = partsWith(afterDeletionOf(parent.id));
    const below = { ...group, parentId: parent.id };
    await expect(creation.create(ROOT, below, signal)).rejects.toMatchObject({
      code: "FAILED_PRECONDITION",
    });
    expect(await known()).toEqual([]);
    const { items } = await engine.readRelationships({ subject: { type: "group", id: parent.id } });
    expect(items).toEqual([]);
  });

  test("no member is added to a group that was deleted after the decision", async () => {
    const made = await begin(engine);
    const deleting = afterDeletionOf(made.id);
    const members = new GroupMembers({
      engine: deleting,
      rules: new RelationshipRules(engine),
      lastOwner: { write: (updates, decide) => writeDecided(deleting, { updates, decide }) },
      pageTokens: PAGE_TOKENS,
    });
    const alice = { type: "user", id: "alice" };
    await expect(members.add(ROOT, made, alice, signal)).rejects.toMatchObject({
      code: "FAILED_PRECONDITION",
    });
    const filter = { resourceType: "group", resourceId: made.id, relation: "member" };
    expect((await engine.readRelationships(filter)).items).toEqual([]);
  });

  test("a deletion that the engine refuses as too large leaves the group shown", async () => {
    const made = await begin(engine);
    const refusing = writingBy(async () => {
      throw new AuthzError("INVALID_ARGUMENT", "a write has at most 1000 preconditions");
    });
    const deleting = partsWith(refusing).deletion.delete(ROOT, made, signal);
    await expect(deleting).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    expect(await records.find(made.id)).toMatchObject({ displayName: "Group" });
  });

  test("a deletion that is refused leaves the group as it was", async () => {
    const parent = await begin(engine);
    // Somebody makes a group below it after the deletion has looked.
    const racing = writingBy(async (...request) => {
      const child = { ...group, parentId: parent.id };
      const relationship = {
        resource: { type: "group", id: "child" },
        relation: "parent",
        subject: { type: "group", id: child.parentId },
      };
      await engine.writeRelationships({ updates: [{ operation: "TOUCH", relationship }] });
      return engine.writeRelationships(...request);
    });
    const { deletion } = partsWith(racing);
    await expect(deletion.delete(ROOT, parent, signal)).rejects.toMatchObject({
      code: "FAILED_PRECONDITION",
      message: expect.stringContaining("groups below"),
    });
    expect(await records.find(parent.id)).toMatchObject({ displayName: "Group" });
  });
});
