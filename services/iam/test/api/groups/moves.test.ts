/** Groups are moved, within what the caller may hand down. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { asUser, type IamService, startIam } from "../../support/iam-service.ts";
import { groupCalls } from "./group-service.ts";

let iam: IamService;
const groups = groupCalls(() => iam);
beforeAll(async () => {
  iam = await startIam();
  await groups.relate(
    "zone:acme#owner@user:root",
    "zone:acme#admin@user:admin",
    "zone:acme#group_manager@user:manager",
    "zone:acme#group_manager@user:other",
    "zone:other#owner@user:root",
  );
});
afterAll(() => iam.stop());

/** A user of its own for each test, so that its calls have a rate limit of their own. */
const someone = () => `user-${randomUUID()}`;

test("a group moves below another one and back to the top, with the groups below it [IAM-8]", async () => {
  const [a, b] = [await groups.make("root", "A"), await groups.make("root", "B")];
  const below = await groups.make("root", "Below", b);
  const moved = await groups.move("root", b, a);
  expect([moved.status, moved.body.parentId]).toEqual([200, a]);
  expect(await groups.isStored(`group:${b}#parent@group:${a}`)).toBe(true);
  expect((await groups.get("root", below)).body.parentId).toBe(b);
  // Once more changes nothing.
  expect((await groups.move("root", b, a)).status).toBe(200);
  expect((await groups.move("root", b, "")).status).toBe(200);
  expect(await groups.isStored(`group:${b}#parent@group:${a}`)).toBe(false);
  expect((await groups.get("root", b)).body.parentId ?? "").toBe("");
});

test("the audit names both places of a move, and nothing where a group stays", async () => {
  const [a, b] = [await groups.make("root", "A"), await groups.make("root", "B")];
  for (const place of [a, a, ""]) await groups.move("root", b, place);
  const moved: unknown[] = [];
  for await (const { type, data } of iam.server.audit?.export({}) ?? []) {
    const { resource, details } = data as { resource?: string; details?: object };
    if (type === "group.moved" && resource === `group:${b}`) moved.push(details);
  }
  expect(moved).toEqual([
    { from: "the top", to: `group:${a}` },
    { from: `group:${a}`, to: "the top" },
  ]);
});

test("a move needs `manage` on the group, and the right to create at the new place", async () => {
  const [a, b] = [await groups.make("root", "A"), await groups.make("root", "B")];
  const [owner, neither] = [someone(), someone()];
  await groups.relate(`group:${b}#owner@user:${owner}`);
  expect((await groups.move(neither, b, "")).status).toBe(403);
  expect((await groups.move(owner, b, a)).body.message).toContain("create_child_groups");
  expect((await groups.move(owner, a, b)).status).toBe(403);
  const child = await groups.make(owner, "Child", b);
  expect((await groups.move(owner, child, "")).body.message).toContain("create_groups");
  expect(await groups.isStored(`group:${child}#parent@group:${b}`)).toBe(true);
});

test("a group stays in its zone, and below groups that exist", async () => {
  const a = await groups.make("root", "A");
  const path = "/v1/iam/organizations/other/groups";
  const headers = asUser("root", "other");
  const { body: foreign } = await iam.call("POST", path, { displayName: "Foreign" }, headers);
  const crossing = await groups.move("root", a, foreign.id);
  expect([crossing.status, crossing.body.code]).toEqual([400, "INVALID_ARGUMENT"]);
  expect((await groups.move("root", a, randomUUID())).status).toBe(403);
  const elsewhere = await iam.call("POST", `${path}/${a}:move`, { parentId: foreign.id }, headers);
  expect(elsewhere.status).toBe(404);
  expect(await groups.isStored(`group:${a}#zone@zone:acme`)).toBe(true);
});

test("a group does not come to be below itself", async () => {
  const a = await groups.make("root", "A");
  const b = await groups.make("root", "B", a);
  const c = await groups.make("root", "C", b);
  for (const place of [a, b, c]) {
    const { status, body } = await groups.move("root", a, place);
    expect([status, body.message]).toEqual([412, "the group would be below itself"]);
  }
});

test("a move keeps the groups within 30 levels, and groups may move up at any depth", async () => {
  const caller = someone();
  await groups.relate(`zone:acme#owner@user:${caller}`);
  const chain: string[] = [];
  for (let depth = 1; depth <= 29; depth++) {
    chain.push(await groups.make(caller, `Level ${depth}`, chain.at(-1)));
  }
  const parent = await groups.make(caller, "Parent");
  const child = await groups.make(caller, "Child", parent);
  const last = chain.at(-1) ?? "";
  expect((await groups.move(caller, parent, last)).status).toBe(412);
  expect((await groups.move(caller, child, last)).status).toBe(200);
  // The chain of 30 is at the top already, so nothing may be above it.
  expect((await groups.move(caller, chain[0] ?? "", parent)).status).toBe(412);
  expect((await groups.move(caller, chain[1] ?? "", "")).status).toBe(200);
}, 60_000);

describe("what a move hands down", () => {
  test("a manager of a group does not become its owner by a place of the manager's own", async () => {
    const mover = someone();
    const group = await groups.make("root", "Group");
    const place = await groups.make("root", "Place");
    await groups.relate(
      `group:${group}#manager@user:${mover}`,
      `group:${place}#owner@user:${mover}`,
    );
    const refused = await groups.move(mover, group, place);
    expect([refused.status, refused.body.code]).toEqual([403, "FORBIDDEN"]);
    expect(await groups.isStored(`group:${group}#parent@group:${place}`)).toBe(false);
  });

  test("neither does a manager of groups get the members of a group by a place of the manager's own", async () => {
    const group = await groups.make("root", "Group");
    const place = await groups.make("manager", "Place of the manager");
    expect((await groups.add("manager", group, { type: "user", id: "manager" })).status).toBe(403);
    expect((await groups.move("manager", group, place)).status).toBe(403);
    // Nor an administrator of the zone its ownership, for somebody else.
    expect((await groups.move("admin", group, place)).status).toBe(403);
    expect((await groups.move("root", group, place)).status).toBe(200);
  });

  test("it counts for each group above the new place", async () => {
    const mover = someone();
    const group = await groups.make("root", "Group");
    const top = await groups.make("root", "Top");
    const middle = await groups.make("root", "Middle", top);
    await groups.relate(
      `group:${group}#manager@user:${mover}`,
      `group:${middle}#manager@user:${mover}`,
      `group:${top}#owner@user:someone`,
    );
    expect((await groups.move(mover, group, middle)).status).toBe(403);
  });

  test.each([
    ["manager", "manage_members"],
    ["permission_admin", "manage_permissions"],
  ])("a %s of the new place gets %s, so the mover needs manage_permissions", async (relation) => {
    const [mover, heir] = [someone(), someone()];
    const group = await groups.make("root", "Group");
    const place = await groups.make("root", "Place");
    await groups.relate(
      `group:${group}#manager@user:${mover}`,
      `group:${place}#manager@user:${mover}`,
      `group:${place}#${relation}@user:${heir}`,
    );
    expect((await groups.move(mover, group, place)).status).toBe(403);
    await groups.relate(`group:${group}#permission_admin@user:${mover}`);
    expect((await groups.move(mover, group, place)).status).toBe(200);
  });

  test("who has the power already gets nothing, and who sees the groups above does not count", async () => {
    const group = await groups.make("manager", "Group");
    const place = await groups.make("manager", "Place");
    // Its owner is the mover, and a manager of groups has nothing by the zone to grant owners.
    await groups.relate(`group:${place}#viewer@user:viewer`, `group:${place}#member@user:member`);
    expect((await groups.move("other", group, place)).status).toBe(200);
    const below = await groups.make("manager", "Below", place);
    // Up, and back below a group that was above: everybody there keeps what they have.
    expect((await groups.move("other", below, "")).status).toBe(200);
    expect((await groups.move("other", below, place)).status).toBe(200);
  });

  test("the members of a group that owns the new place count", async () => {
    const mover = someone();
    const owners = await groups.make("root", "Owners");
    const group = await groups.make("root", "Group");
    const place = await groups.make("root", "Place");
    await groups.relate(
      `group:${group}#manager@user:${mover}`,
      `group:${place}#manager@user:${mover}`,
      `group:${group}#permission_admin@user:${mover}`,
      `group:${place}#owner@group:${owners}#member`,
    );
    expect((await groups.move(mover, group, place)).status).toBe(403);
    await groups.relate(`group:${group}#owner@group:${owners}#member`);
    expect((await groups.move(mover, group, place)).status).toBe(200);
  });
});

describe("at once", () => {
  test("of two moves that would make a cycle together, one is refused [IAM-8]", async () => {
    for (let round = 0; round < 5; round++) {
      const mover = someone();
      await groups.relate(`zone:acme#owner@user:${mover}`);
      const [a, b] = [await groups.make(mover, "A"), await groups.make(mover, "B")];
      const moved = await Promise.all([groups.move(mover, a, b), groups.move(mover, b, a)]);
      expect(moved.map(({ status }) => status).sort()).toEqual([200, 412]);
    }
  });

  test("a group that is moved to several places is at one of them", async () => {
    const mover = someone();
    await groups.relate(`zone:acme#owner@user:${mover}`);
    const group = await groups.make(mover, "Group");
    const places = [];
    for (const name of ["A", "B", "C"]) places.push(await groups.make(mover, name));
    const moved = await Promise.all(places.map((place) => groups.move(mover, group, place)));
    // One that begins after another has ended moves it on.
    for (const { status } of moved) expect([200, 412]).toContain(status);
    const stored = await Promise.all(
      places.map((place) => groups.isStored(`group:${group}#parent@group:${place}`)),
    );
    expect(stored.filter(Boolean)).toHaveLength(1);
  });
});
