/** Groups at two replicas, over one PostgreSQL and one SpiceDB whose relationships are in PostgreSQL, too. */
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import type { SpicedbEngine } from "svc-access/authz";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runs } from "../../../../../test/support/effort.ts";
import { openPostgres, query } from "../../../../../test/support/postgres.ts";
import {
  type SpicedbServer,
  spicedbIsAbsent,
  startSpicedb,
} from "../../../../../test/support/spicedb.ts";
import { type IamService, startIam } from "../../support/iam-service.ts";
import { groupCalls } from "./group-service.ts";

const MODEL = new URL("../../../../../model/iam.zed", import.meta.url).pathname;
const ROUNDS = runs(4, 1);

const postgres = spicedbIsAbsent() ? undefined : await openPostgres();

describe.skipIf(postgres === undefined)("with SpiceDB and PostgreSQL", () => {
  let spicedb: SpicedbServer;
  let replicas: readonly [IamService, IamService];
  const one = groupCalls(() => replicas[0]);
  const two = groupCalls(() => replicas[1]);
  beforeAll(async () => {
    if (postgres === undefined) return;
    await query(postgres.url, "create database iam");
    await query(postgres.url, "create database spicedb");
    const at = (name: string) => Object.assign(new URL(postgres.url), { pathname: name }).href;
    spicedb = await startSpicedb({ postgresUrl: at("/spicedb") });
    const { endpoint, token } = spicedb;
    const options = {
      authz: { provider: "spicedb", spicedb: { endpoint, token, insecure: true } },
      database: { driver: "postgres", url: at("/iam"), file: undefined },
    };
    const first = await startIam(options);
    await (first.options.engine as SpicedbEngine).writeSchema(readFileSync(MODEL, "utf8"));
    replicas = [first, await startIam({ ...options, folder: first.folder })];
    await one.relate("zone:acme#owner@user:root", "zone:acme#group_manager@user:manager");
  });
  afterAll(async () => {
    for (const replica of replicas) await replica.stop();
    await spicedb.stop();
    await postgres?.remove();
  });

  /** SpiceDB's answers to a replica may be some seconds old, and not older than what it wrote last. */
  const refresh = (replica: typeof one) => replica.relate("zone:acme#group_viewer@user:nobody");

  test("a group is made at one replica, and seen, changed and deleted at the other", async () => {
    const parent = await one.make("root", "Parent");
    const child = await two.make("root", "Child", parent);
    await refresh(one);
    expect((await one.get("root", child)).body).toMatchObject({ parentId: parent });
    expect((await one.add("root", child, { type: "user", id: "alice" })).status).toBe(200);
    await refresh(two);
    expect((await two.members("root", child)).body.members).toHaveLength(1);
    expect((await two.remove("root", parent)).status).toBe(412);
    expect((await one.move("root", child, "")).status).toBe(200);
    expect((await two.remove("root", parent)).status).toBe(200);
    expect((await two.remove("root", child)).status).toBe(200);
    expect(await one.isStored(`group:${child}#member@user:alice`)).toBe(false);
  });

  test("a group 30 levels deep is decided, and a deeper one is refused", async () => {
    const chain: string[] = [];
    for (let depth = 1; depth <= 30; depth++) {
      chain.push(await one.make("root", `Level ${depth}`, chain.at(-1)));
    }
    const [top = "", id = ""] = [chain[0], chain.at(-1)];
    const leads = await one.make("root", "Leads");
    await one.relate(
      `group:${id}#viewer@user:reader`,
      `group:${top}#owner@group:${leads}#member`,
      `group:${leads}#member@user:lead`,
    );
    expect((await one.get("reader", id)).status).toBe(200);
    // Through all levels, and a group on top of them.
    expect((await one.get("lead", id)).status).toBe(200);
    expect((await one.add("lead", id, { type: "user", id: "alice" })).status).toBe(200);
    expect((await one.get("stranger", id)).status).toBe(403);
    expect((await one.create("root", "Level 31", id)).status).toBe(412);
  }, 120_000);

  test("of two moves at two replicas that would make a cycle together, one is refused [IAM-8]", async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const [a, b] = [await one.make("root", "A"), await one.make("root", "B")];
      await refresh(two);
      const moved = await Promise.all([one.move("root", a, b), two.move("root", b, a)]);
      expect(moved.map(({ status }) => status).sort()).toEqual([200, 412]);
    }
  }, 120_000);

  test("either a group is deleted at one replica, or one is made below it at the other", async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const parent = await one.make("root", "Parent");
      await refresh(two);
      const [deleted, made] = await Promise.all([
        one.remove("root", parent),
        two.create("root", "Child", parent),
      ]);
      expect(deleted.status === 200).toBe(made.status !== 200);
      const filter = { subject: { type: "group", id: parent } };
      const read = await replicas[0].options.engine?.readRelationships(
        filter,
        {},
        { newest: true },
      );
      expect(read?.items).toHaveLength(made.status === 200 ? 1 : 0);
    }
  }, 120_000);

  test("what a group's members were granted is found in each type, and revoked with it", async () => {
    const id = await one.make("root", "Granted");
    const object = randomUUID();
    await one.relate(
      `group:${id}#member@user:alice`,
      `organization:${object}#owner@user:root`,
      `organization:${object}#owner@group:${id}#member`,
      `skill_space:${object}#viewer@group:${id}#member`,
    );
    await refresh(two);
    expect((await two.remove("manager", id)).body.message).toContain("permission denied: org");
    expect((await two.remove("root", id)).status).toBe(200);
    expect(await one.isStored(`organization:${object}#owner@group:${id}#member`)).toBe(false);
    const isGone = async () =>
      !(await one.isStored(`skill_space:${object}#viewer@group:${id}#member`));
    await expect
      .poll(isGone, { message: "the grant to the deleted group is revoked", interval: 100 })
      .toBe(true);
  });
});
