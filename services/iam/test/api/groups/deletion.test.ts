/** Groups are deleted, with what their members held by them. */
import type { AuthorizationEngine } from "svc-access/authz";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { asUser, type IamService, startIam } from "../../support/iam-service.ts";
import { GROUPS, groupCalls } from "./group-service.ts";

let iam: IamService;
const groups = groupCalls(() => iam);
const holds = async (user: string, permission: string, type: string, id: string) =>
  (
    await iam.options.engine?.check({
      resource: { type, id },
      permission,
      subject: { type: "user", id: user },
    })
  )?.allowed;
/** All relationships that name a group. */
const left = async (id: string) => {
  const engine = iam.options.engine;
  const found = await Promise.all([
    engine?.readRelationships({ resourceType: "group", resourceId: id }),
    engine?.readRelationships({ subject: { type: "group", id } }),
  ]);
  return found.flatMap((page) => page?.items ?? []);
};

/** The job that removes the relationships of deleted records, now. */
const runRemovals = () =>
  iam.options.jobs?.find(({ name }) => name === "removals")?.run(new AbortController().signal);

beforeAll(async () => {
  iam = await startIam();
  await groups.relate("zone:acme#owner@user:root", "zone:acme#group_manager@user:manager");
});
afterAll(() => iam.stop());

test("a deleted group is gone at once, and then its relationships and its record [IAM-13]", async () => {
  const parent = await groups.make("root", "Parent");
  const id = await groups.make("root", "Gone", parent);
  await groups.relate(
    `group:${id}#member@user:alice`,
    `group:${id}#viewer@user:bob`,
    `organization:o1#owner@group:${id}#member`,
    `organization:o2#viewer@group:${id}#member`,
  );
  await groups.relate("organization:o1#owner@user:root");
  expect(await holds("alice", "view", "organization", "o2")).toBe(true);
  expect((await groups.remove("root", id)).status).toBe(200);
  expect((await groups.get("root", id)).status).not.toBe(200);
  // Also what the job has not removed yet gives nobody anything.
  expect(await holds("alice", "manage", "organization", "o1")).toBe(false);
  expect(await holds("alice", "view", "organization", "o2")).toBe(false);
  expect((await groups.remove("root", id)).status).not.toBe(200);
  const list = await iam.call("GET", `${GROUPS}:visible`, undefined, asUser("root"));
  expect(list.body.groups.map((group: { id: string }) => group.id)).not.toContain(id);
  await runRemovals();
  expect(await left(id)).toEqual([]);
  expect((await groups.get("root", parent)).status).toBe(200);
});

test("no write of a group relies on the same thing twice", async () => {
  const engine = iam.options.engine as AuthorizationEngine;
  const writes = vi.spyOn(engine, "writeRelationships");
  const parent = await groups.make("manager", "Above");
  const child = await groups.make("manager", "Below", parent);
  expect((await groups.add("root", child, { type: "user", id: "alice" })).status).toBe(200);
  expect((await groups.drop("root", child, { type: "user", id: "alice" })).status).toBe(200);
  expect((await groups.move("root", child, "")).status).toBe(200);
  // Both the right to delete it and that to revoke this one come from the owner of the zone.
  await groups.relate(`zone:acme#admin@group:${child}#member`);
  expect((await groups.remove("root", child)).status).toBe(200);
  const given = writes.mock.calls.map(([{ preconditions = [] }]) =>
    preconditions.map((one) => JSON.stringify(one)),
  );
  writes.mockRestore();
  expect(given.length).toBeGreaterThanOrEqual(6);
  for (const texts of given) expect(texts).toEqual([...new Set(texts)]);
});

test("a group with more members than one write removes is deleted, too", async () => {
  const id = await groups.make("root", "Large");
  for (let start = 0; start < 2500; start += 500) {
    const members = Array.from({ length: 500 }, (_, index) => `member-${start + index}`);
    await groups.relate(...members.map((member) => `group:${id}#member@user:${member}`));
  }
  expect((await groups.remove("root", id)).status).toBe(200);
  await runRemovals();
  expect(await left(id)).toEqual([]);
});

test("a group with groups below it is not deleted", async () => {
  const parent = await groups.make("root", "Parent");
  const child = await groups.make("root", "Child", parent);
  const refused = await groups.remove("root", parent);
  expect([refused.status, refused.body.code]).toEqual([412, "FAILED_PRECONDITION"]);
  expect((await groups.get("root", parent)).status).toBe(200);
  expect((await groups.remove("root", child)).status).toBe(200);
  expect((await groups.remove("root", parent)).status).toBe(200);
});

test("a group is deleted by those who manage it, and not by its members", async () => {
  const id = await groups.make("root", "Managed");
  await groups.relate(`group:${id}#member@user:member`, `group:${id}#viewer@user:viewer`);
  for (const user of ["member", "viewer", "nobody"]) {
    expect((await groups.remove(user, id)).status, user).toBe(403);
  }
  expect((await groups.remove("manager", id)).status).toBe(200);
});

test.each([
  ["owner", "organization", "o3"],
  ["admin", "organization", "o3"],
  ["admin", "zone", "acme"],
  ["permission_admin", "zone", "acme"],
  ["user_manager", "zone", "acme"],
  ["group_manager", "zone", "acme"],
  ["user_viewer", "zone", "acme"],
])(
  "who may not revoke %s of a %s does not delete the group whose members hold it",
  async (relation, type, object) => {
    const id = await groups.make("root", "Powerful");
    const grant = `${type}:${object}#${relation}@group:${id}#member`;
    await groups.relate(grant);
    const refused = await groups.remove("manager", id);
    expect([refused.status, refused.body.code]).toEqual([403, "FORBIDDEN"]);
    expect((await groups.get("root", id)).status).toBe(200);
    expect(await groups.isStored(grant)).toBe(true);
  },
);

test("who may not revoke a relation of a zone does not delete a group whose members hold it by another group", async () => {
  const [board, id] = [await groups.make("root", "Board"), await groups.make("root", "Chairs")];
  const member = `group:${board}#member@group:${id}#member`;
  await groups.relate(member, `zone:acme#user_viewer@group:${board}#member`);
  const refused = await groups.remove("manager", id);
  expect([refused.status, refused.body.code]).toEqual([403, "FORBIDDEN"]);
  expect(await groups.isStored(member)).toBe(true);
  expect((await groups.remove("root", id)).status).toBe(200);
  expect(await groups.isStored(member)).toBe(false);
});

test("a group by which the last enabled user owns the zone is not deleted", async () => {
  const password = "correct horse battery staple";
  const olga = { username: "olga", displayName: "Olga", email: "olga@example.com", password };
  const { body } = await iam.call("POST", "/v1/users", olga, asUser("root"));
  const id = await groups.make("root", "Owners");
  await groups.relate(`group:${id}#member@user:${body.id}`, `zone:acme#owner@group:${id}#member`);
  const refused = await groups.remove("root", id);
  expect([refused.status, refused.body.code]).toEqual([412, "FAILED_PRECONDITION"]);
  expect(refused.body.message).toContain("last enabled user who owns the zone");
  expect((await groups.get("root", id)).status).toBe(200);
  const more = { ...olga, username: "otto", email: "otto@example.com" };
  const { body: otto } = await iam.call("POST", "/v1/users", more, asUser("root"));
  await groups.relate(`zone:acme#owner@user:${otto.id}`);
  expect((await groups.remove("root", id)).status).toBe(200);
});

describe("at once", () => {
  test("either a group is deleted, or another one is made or moved below it", async () => {
    const loose = await groups.make("root", "Loose");
    for (let round = 0; round < 6; round++) {
      const parent = await groups.make("root", "Parent");
      const other =
        round % 2 === 0
          ? () => groups.create("root", "Child", parent)
          : () => groups.move("root", loose, parent);
      const [deleted, placed] = await Promise.all([groups.remove("root", parent), other()]);
      const isPlaced = placed.status === 200;
      expect(deleted.status === 200).toBe(!isPlaced);
      const engine = iam.options.engine;
      const children = await engine?.readRelationships({ subject: { type: "group", id: parent } });
      expect(children?.items).toHaveLength(isPlaced ? 1 : 0);
    }
  });

  test("either a group is deleted, or a member is added to it; both leave no member behind", async () => {
    const ids: string[] = [];
    for (let round = 0; round < 5; round++) {
      const id = await groups.make("root", "Raced");
      ids.push(id);
      const member = { type: "user", id: "alice" };
      const calls = [groups.remove("root", id), groups.add("root", id, member)];
      expect((await Promise.all(calls))[0]?.status).toBe(200);
    }
    await runRemovals();
    expect((await Promise.all(ids.map(left))).flat()).toEqual([]);
  });
});
