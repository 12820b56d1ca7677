/** Groups are made, read, listed and renamed. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { updatesOf } from "../../rights/rights-engine.ts";
import { asUser, type IamService, startIam } from "../../support/iam-service.ts";
import { GROUPS, groupCalls } from "./group-service.ts";

let iam: IamService;
const groups = groupCalls(() => iam);
beforeAll(async () => {
  iam = await startIam();
  await groups.relate(
    "zone:acme#owner@user:root",
    "zone:acme#group_manager@user:manager",
    "zone:acme#group_viewer@user:viewer",
    "zone:other#owner@user:stranger",
    "zone:acme#group_manager@service:hub",
  );
});
afterAll(() => iam.stop());

const create = (body: object, headers = asUser("root"), organization = "acme") =>
  iam.call("POST", `/v1/iam/organizations/${organization}/groups`, body, headers);

test.each([
  ["without a name", {}, "display_name is required"],
  ["with a blank name", { displayName: " " }, "display_name is required"],
  ["with a long name", { displayName: "n".repeat(129) }, "display_name must have at most 128"],
  ["with a name of several lines", { displayName: "a\nb" }, "display_name must not contain"],
  ["below a group with an id that is not valid", { displayName: "a", parentId: "a b" }, "id"],
])("a group %s is refused", async (_, body, message) => {
  const { status, body: answer } = await create(body);
  expect([status, answer.code]).toEqual([400, "INVALID_ARGUMENT"]);
  expect(answer.message).toContain(message);
});

test.each([
  ["nobody", {}, 401],
  ["a user without the permission", asUser("nobody"), 403],
  ["who may see groups", asUser("viewer"), 403],
  ["the owner of another zone", asUser("stranger", "other"), 403],
])("%s may not create a group", async (_, headers, status) => {
  expect((await create({ displayName: "Refused" }, headers)).status).toBe(status);
});

test("a group below one that does not exist is refused, and no less to who may create groups", async () => {
  const body = { displayName: "Lost", parentId: randomUUID() };
  expect((await create(body)).status).toBe(403);
});

test("a group is in its zone, below its parent, and the caller's; its id is random [IAM-8]", async () => {
  const { status, body: staff } = await create({ displayName: "Staff" }, asUser("manager"));
  expect(status).toBe(200);
  expect(staff).toMatchObject({ organizationId: "acme", displayName: "Staff" });
  expect(staff.id).toMatch(/^[0-9a-f-]{36}$/);
  expect(Math.abs(Date.parse(staff.createTime) - Date.now())).toBeLessThan(60_000);
  const child = await groups.make("manager", "Engineers", staff.id);
  expect(await groups.isStored(`group:${staff.id}#zone@zone:acme`)).toBe(true);
  expect(await groups.isStored(`group:${staff.id}#owner@user:manager`)).toBe(true);
  expect(await groups.isStored(`group:${child}#zone@zone:acme`)).toBe(true);
  expect(await groups.isStored(`group:${child}#parent@group:${staff.id}`)).toBe(true);
  expect((await groups.get("manager", child)).body).toMatchObject({
    id: child,
    parentId: staff.id,
    displayName: "Engineers",
  });
});

test("a creation is not repeated to somebody who has lost the right to it", async () => {
  const top = "zone:acme#group_manager@user:former";
  const parentId = await groups.make("root", "Above");
  const manager = `group:${parentId}#manager@user:former`;
  await groups.relate(top, manager);
  const headers = { ...asUser("former"), "Idempotency-Key": randomUUID() };
  const below = { ...asUser("former"), "Idempotency-Key": randomUUID() };
  const both = async () => [
    await create({ displayName: "a" }, headers),
    await create({ displayName: "b", parentId }, below),
  ];
  const made = await both();
  expect(made.map(({ status }) => status)).toEqual([200, 200]);
  expect((await both()).map(({ body }) => body.id)).toEqual(made.map(({ body }) => body.id));
  const updates = updatesOf(`-${top}`, `-${manager}`);
  await iam.options.engine?.writeRelationships({ updates });
  expect((await both()).map(({ status }) => status)).toEqual([403, 403]);
});

test("a creation that is repeated with its key makes one group", async () => {
  const headers = { ...asUser("root"), "Idempotency-Key": randomUUID() };
  const [first, second] = [
    await create({ displayName: "Once" }, headers),
    await create({ displayName: "Once" }, headers),
  ];
  expect([first.status, second.status]).toEqual([200, 200]);
  expect(second.body).toEqual(first.body);
});

test("who owns a group creates groups below it, and nowhere else", async () => {
  const top = await groups.make("root", "Top");
  await groups.relate(`group:${top}#owner@user:lead`);
  const below = await groups.make("lead", "Below", top);
  await groups.make("lead", "Deeper", below);
  expect((await groups.create("lead", "Beside")).status).toBe(403);
});

test("a group below one of another organization is refused", async () => {
  await groups.relate("zone:other#owner@user:root");
  const { body: foreign } = await create({ displayName: "Foreign" }, asUser("root"), "other");
  const { status, body } = await groups.create("root", "Crossing", foreign.id);
  expect([status, body.code]).toEqual([400, "INVALID_ARGUMENT"]);
  // Under the path of this organization, it is not found.
  expect((await groups.get("root", foreign.id)).status).toBe(404);
});

test("a group is not found under another organization, by no RPC", async () => {
  const id = await groups.make("root", "Elsewhere");
  await groups.relate("zone:other#owner@user:root");
  const member = { member: { type: "user", id: "alice" } };
  const path = `/v1/iam/organizations/other/groups/${id}`;
  for (const [method, below, body] of [
    ["GET", "", undefined],
    ["PATCH", "", { displayName: "Taken" }],
    ["POST", ":move", { parentId: "" }],
    ["DELETE", "", undefined],
    ["GET", "/members", undefined],
    ["POST", "/members", member],
    ["POST", "/members:remove", member],
  ] as const) {
    const { status } = await iam.call(method, `${path}${below}`, body, asUser("root", "other"));
    expect(status, `${method} ${below}`).toBe(404);
  }
  expect((await groups.get("root", id)).body.displayName).toBe("Elsewhere");
  expect(await groups.isStored(`group:${id}#member@user:alice`)).toBe(false);
});

test("a group can be 30 levels deep, and not deeper", async () => {
  let id = "";
  for (let depth = 1; depth <= 30; depth++) id = await groups.make("root", `Level ${depth}`, id);
  const { status, body } = await groups.create("root", "Level 31", id);
  expect([status, body.code]).toEqual([412, "FAILED_PRECONDITION"]);
  expect((await groups.get("viewer", id)).status).toBe(200);
}, 120_000);

test("a group is seen by its members and viewers, and by nobody else", async () => {
  const id = await groups.make("root", "Seen");
  await groups.relate(`group:${id}#member@user:member`);
  for (const user of ["root", "manager", "viewer", "member"]) {
    expect((await groups.get(user, id)).status, user).toBe(200);
  }
  expect((await groups.get("stranger", id)).status).toBe(403);
  expect((await groups.get("root", randomUUID())).status).toBe(403);
});

test("a list has the groups that the caller may see, in pages, by id [IAM-11]", async () => {
  const parent = await groups.make("root", "Listed");
  const listed = [parent];
  for (const name of ["a", "b", "c"]) listed.push(await groups.make("root", name, parent));
  const hidden = await groups.make("root", "Hidden");
  const { body: foreign } = await create(
    { displayName: "F" },
    asUser("stranger", "other"),
    "other",
  );
  await groups.relate(
    `group:${parent}#viewer@user:reader`,
    "group:seeded#viewer@user:reader",
    `group:${foreign.id}#viewer@user:reader`,
  );
  const pagesOf = async (user: string, size: number) => {
    const found: string[] = [];
    for (let token: string | undefined = ""; token !== undefined; ) {
      const path = `${GROUPS}:visible?page_size=${size}&page_token=${token}`;
      const { status, body } = await iam.call("GET", path, undefined, asUser(user));
      expect(status).toBe(200);
      found.push(...(body.groups ?? []).map(({ id }: { id: string }) => id));
      token = body.nextPageToken || undefined;
    }
    return found;
  };
  expect(await pagesOf("reader", 2)).toEqual([...listed].sort());
  const all = await pagesOf("viewer", 7);
  expect(all).toEqual([...all].sort());
  expect(all).toEqual(expect.arrayContaining([...listed, hidden]));
  expect(await pagesOf("nobody", 2)).toEqual([]);
  const { body } = await iam.call("GET", `${GROUPS}:visible`, undefined, asUser("reader"));
  const child = body.groups.find(({ id }: { id: string }) => id === listed[1]);
  expect(child).toMatchObject({ parentId: parent, organizationId: "acme" });
});

test.each([
  "x",
  "groups.1.YQ",
  // Of a former version.
  `groups.1.${Buffer.from(randomUUID()).toString("base64url")}`,
  "g".repeat(3000),
])("the page token %j is refused", async (token) => {
  const path = `${GROUPS}:visible?page_token=${token}`;
  const { status, body } = await iam.call("GET", path, undefined, asUser("root"));
  expect([status, body.message]).toEqual([400, expect.stringContaining("first page")]);
});

const update = (id: string, body: object, query = "", user = "root") =>
  iam.call("PATCH", `${GROUPS}/${id}${query}`, body, asUser(user));

test("a group gets another name, unless it was changed meanwhile", async () => {
  const id = await groups.make("root", "First");
  const { body: first } = await groups.get("root", id);
  const { status, body: second } = await update(id, { displayName: "Second", etag: first.etag });
  expect([status, second.displayName]).toEqual([200, "Second"]);
  expect(second.etag).not.toBe(first.etag);
  const late = await update(id, { displayName: "Third", etag: first.etag });
  expect([late.status, late.body.code]).toEqual([412, "FAILED_PRECONDITION"]);
  expect((await update(id, { displayName: "Fourth" })).body.displayName).toBe("Fourth");
  expect((await groups.get("root", id)).body.displayName).toBe("Fourth");
});

test.each([
  ["an empty name", { displayName: "" }, "?update_mask=displayName", "root", 400],
  ["another field", { displayName: "a" }, "?update_mask=parentId", "root", 400],
  ["who may only see it", { displayName: "a" }, "", "viewer", 403],
])("%s: the change is refused", async (_, body, query, user, status) => {
  const id = await groups.make("root", "Kept");
  expect((await update(id, body, query, user)).status).toBe(status);
  expect((await groups.get("root", id)).body.displayName).toBe("Kept");
});

test("a change without fields changes nothing", async () => {
  const id = await groups.make("root", "Same");
  const { body: before } = await groups.get("root", id);
  expect((await update(id, {})).body).toEqual(before);
});
