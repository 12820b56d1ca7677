/** Creations of organizations that are cut off between their first owner and their record. */
import { testContext, testEngine } from "svc-access/testing";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { ensureOrganization } from "../../../src/api/organizations/configured-organization.ts";
import { OrganizationCreations } from "../../../src/api/organizations/organization-creations.ts";
import { organizationHandlers } from "../../../src/api/organizations/organization-handlers.ts";
import { OrganizationRecords } from "../../../src/api/organizations/organization-records.ts";
import { OrganizationZones } from "../../../src/api/organizations/organization-zones.ts";
import type { IamTables } from "../../../src/ground/store/tables.ts";
import { PAGE_TOKENS } from "../../rights/rights-engine.ts";
import { postgres, sqlite, type TestDatabase } from "../../support/databases.ts";

const MODEL = new URL("../../../../../model/iam.zed", import.meta.url).pathname;
const START = 1_800_000_000_000;
const OLD = 700_000;
const FIELDS = { displayName: "Umbrella", websiteUrl: "" };
const OLGA = { type: "user", id: "olga" };
const { signal } = new AbortController();

describe.each([
  ["SQLite", async () => sqlite],
  ["PostgreSQL", postgres],
] as const)("in %s", async (_, prepare) => {
  const found: (() => Promise<TestDatabase>) | undefined = await prepare();
  if (found === undefined) return;
  const create = found;

  let engine: Awaited<ReturnType<typeof testEngine>>;
  beforeAll(async () => {
    engine = await testEngine({ model: MODEL, relationships: [] });
  });
  afterAll(() => engine.close());

  let now = START;
  let id = "";
  let next = 0;
  let records: OrganizationRecords;
  let creations: OrganizationCreations;
  let zones: OrganizationZones;
  beforeEach(async () => {
    const database = (await create()).open().as<IamTables>();
    now = START;
    id = `umbrella-${next++}`;
    zones = new OrganizationZones(engine);
    records = new OrganizationRecords(database, { add: async () => undefined });
    creations = new OrganizationCreations(database, zones, () => now);
  });
  const begin = () => creations.begin(id, FIELDS);
  const isOwned = () => zones.hasOwner(id, signal);

  test("one with its owner is completed once no call is under way any more [IAM-13]", async () => {
    await begin();
    await zones.makeFirstOwner(id, OLGA, signal);
    await creations.run(signal);
    expect(await records.find(id)).toBeUndefined();
    now += OLD;
    await creations.run(signal);
    expect(await records.find(id)).toMatchObject({ id, ...FIELDS });
    expect(await begin()).toBeUndefined();
  });

  test("one without an owner is discarded, and the id can be used again [IAM-13]", async () => {
    await begin();
    now += OLD;
    await creations.run(signal);
    expect([await records.find(id), await creations.finish(id, FIELDS)]).toEqual([
      undefined,
      undefined,
    ]);
    expect(await begin()).toBeDefined();
  });

  test("one that is repeated is young again, and ends with the record", async () => {
    await begin();
    now += OLD;
    await begin();
    await zones.makeFirstOwner(id, OLGA, signal);
    await creations.run(signal);
    expect(await records.find(id)).toBeUndefined();
    const fields = { ...FIELDS, displayName: "Repeated" };
    expect(await creations.finish(id, fields)).toMatchObject(fields);
    expect(await creations.finish(id, FIELDS)).toBeUndefined();
  });

  test("one that is refused is discarded, and not where another call is under way", async () => {
    await (await begin())?.();
    expect(await creations.finish(id, FIELDS)).toBeUndefined();
    const discard = await begin();
    const discardSecond = await begin();
    await discard?.();
    await discardSecond?.();
    expect(await creations.finish(id, FIELDS)).toMatchObject({ id });
    expect(await isOwned()).toBe(false);
  });

  test("a call that another one overtakes before the record leaves it its owner", async () => {
    let reach = () => {};
    let release = () => {};
    const reached = new Promise<void>((resolve) => {
      reach = resolve;
    });
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const call = (finish: OrganizationCreations["finish"]) =>
      organizationHandlers({
        zones,
        records,
        creations: Object.assign(Object.create(creations), {
          begin: creations.begin.bind(creations),
          finish,
        }),
        pageTokens: PAGE_TOKENS,
        organization: "acme",
      }).createOrganization(
        {
          organizationId: id,
          displayName: "Umbrella",
          websiteUrl: "",
          owner: { ...OLGA, relation: "" },
        } as never,
        testContext({ user: "root" }),
      );
    const finish = creations.finish.bind(creations);
    const slow = call(async (...parts) => {
      reach();
      await released;
      return finish(...parts);
    });
    await Promise.race([reached, slow]);
    await call(finish);
    release();
    await expect(slow).rejects.toMatchObject({ code: "ALREADY_EXISTS" });
    expect([(await records.find(id))?.id, await isOwned()]).toEqual([id, true]);
  });

  test("one without an owner is refused while one with an owner is under way", async () => {
    const handlers = organizationHandlers({
      ...{ zones, records, creations, pageTokens: PAGE_TOKENS },
      organization: "acme",
    });
    const call = () =>
      handlers.createOrganization(
        { organizationId: id, displayName: "Mine", websiteUrl: "" } as never,
        testContext({ user: "root" }),
      );
    const discard = await begin();
    await expect(call()).rejects.toMatchObject({
      code: "FAILED_PRECONDITION",
      message: expect.stringContaining("is being created with an owner"),
    });
    expect(await records.find(id)).toBeUndefined();
    await discard?.();
    expect(await call()).toMatchObject({ organization: { id } });
    expect(await begin()).toBeUndefined();
    await expect(call()).rejects.toMatchObject({ code: "ALREADY_EXISTS" });
  });

  test("of one with an owner and one without, at once, only one is made", async () => {
    const [, made] = await Promise.all([begin(), creations.create(id, FIELDS)]);
    const isUnderWay = (await creations.finish(id, FIELDS)) !== undefined;
    expect([made === "under_way", isUnderWay]).toEqual([isUnderWay, made === "under_way"]);
    expect(await records.find(id)).toMatchObject({ id });
  });

  describe("the organization of the configuration", () => {
    const ensure = () => ensureOrganization(id, records, creations);

    test("is made once, also by replicas that start at once", async () => {
      expect(await Promise.all([ensure(), ensure(), ensure()])).toEqual(Array(3).fill("exists"));
      expect(await records.find(id)).toMatchObject({ displayName: id });
      expect(await begin()).toBeUndefined();
    });

    test("is not made again once it was deleted", async () => {
      await ensure();
      await records.delete(id);
      expect(await ensure()).toBe("deleted");
    });

    test("is left to the call that is creating it", async () => {
      await begin();
      expect([await ensure(), await records.find(id)]).toEqual(["under_way", undefined]);
      await zones.makeFirstOwner(id, OLGA, signal);
      expect(await creations.finish(id, FIELDS)).toMatchObject(FIELDS);
      expect(await ensure()).toBe("exists");
      expect(await records.find(id)).toMatchObject(FIELDS);
    });

    test.each([
      ["with its owner is completed", true, FIELDS.displayName],
      ["without an owner is discarded, and it is made", false, undefined],
    ])("whose creation was cut off %s by the job", async (_what, hasOwner, displayName) => {
      const job = creations.jobWith(async () => void (await ensure()));
      await begin();
      if (hasOwner) await zones.makeFirstOwner(id, OLGA, signal);
      await job.run(signal);
      expect(await records.find(id)).toBeUndefined();
      now += OLD;
      await job.run(signal);
      expect(await records.find(id)).toMatchObject({ displayName: displayName ?? id });
      expect([await isOwned(), await ensure()]).toEqual([hasOwner, "exists"]);
    });
  });
});
