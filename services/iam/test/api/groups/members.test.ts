/** Members are added and removed, within what the caller may grant. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { asUser, type IamService, startIam } from "../../support/iam-service.ts";
import { groupCalls } from "./group-service.ts";

let iam: IamService;
const groups = groupCalls(() => iam);
const user = (id: string) => ({ type: "user", id });
const set = (id: string) => ({ type: "group", id, relation: "member" });

beforeAll(async () => {
  iam = await startIam();
  await groups.relate(
    "zone:acme#owner@user:root",
    "zone:acme#owner@user:second",
    "zone:acme#user_manager@user:users",
    "zone:acme#group_manager@user:manager",
  );
});
afterAll(() => iam.stop());

test.each([
  ["no member", undefined],
  ["a member without an id", { type: "user", id: "" }],
  ["a member of an unknown type", { type: "robot", id: "r" }],
  ["a zone", { type: "zone", id: "acme" }],
  ["a group itself", { type: "group", id: "x" }],
  ["another set of a group", { type: "group", id: "x", relation: "owner" }],
  ["everybody", { type: "user", id: "*" }],
  ["two relations", { type: "group#member", id: "x", relation: "member" }],
])("%s is refused as a member", async (_, member) => {
  const id = await groups.make("root", "Strict");
  expect((await groups.add("root", id, member as object)).status).toBe(400);
});

test("members of each kind are added, listed and removed; once more changes nothing", async () => {
  const id = await groups.make("root", "Mixed");
  const other = await groups.make("root", "Nested");
  const members = [
    user("alice"),
    { type: "service", id: "hub" },
    { type: "service_account", id: "bot" },
    set(other),
  ];
  for (const member of [...members, ...members]) {
    const { status, body } = await groups.add("root", id, member);
    expect([status, typeof body.revision]).toEqual([200, "string"]);
  }
  const { body } = await groups.members("root", id);
  expect(body.members).toHaveLength(members.length);
  expect(body.members).toEqual(
    expect.arrayContaining(members.map((one) => expect.objectContaining(one))),
  );
  for (const member of [...members, ...members]) {
    expect((await groups.drop("root", id, member)).status).toBe(200);
  }
  expect((await groups.members("root", id)).body.members ?? []).toEqual([]);
});

test("members are listed in pages, also during writes, to those who may see the group [IAM-11]", async () => {
  const id = await groups.make("root", "Paged");
  await groups.relate(...["a", "b", "c", "d", "e"].map((one) => `group:${id}#member@user:${one}`));
  const found: string[] = [];
  for (let token: string | undefined = ""; token !== undefined; ) {
    const { body } = await groups.members("a", id, `?page_size=2&page_token=${token}`);
    found.push(...body.members.map(({ id }: { id: string }) => id));
    token = body.nextPageToken || undefined;
    // Somebody writes between two pages.
    await groups.relate(`group:${id}#viewer@user:viewer-${found.length}`);
  }
  expect(found.sort()).toEqual(["a", "b", "c", "d", "e"]);
  expect((await groups.members("nobody", id)).status).toBe(403);
  expect((await groups.members("root", id, "?page_token=x")).status).toBe(400);
  expect((await groups.members("root", id, `?page_token=${"x".repeat(5000)}`)).status).toBe(400);
  expect((await groups.members("root", id, "?page_size=1001")).status).toBe(400);
});

test("owners of the group and managers of users change its members, and managers of groups do not", async () => {
  const id = await groups.make("root", "Rights");
  await groups.relate(`group:${id}#owner@user:lead`, `group:${id}#member@user:member`);
  for (const [caller, status] of [
    ["lead", 200],
    ["users", 200],
    ["manager", 403],
    ["member", 403],
    ["nobody", 403],
  ] as const) {
    expect((await groups.add(caller, id, user("new"))).status, caller).toBe(status);
    expect((await groups.drop(caller, id, user("new"))).status, caller).toBe(status);
  }
});

test("nobody becomes by a group what the caller may not grant [IAM-7]", async () => {
  const id = await groups.make("root", "Administrators");
  await groups.relate(`group:${id}#owner@user:lead`);
  expect((await groups.add("lead", id, user("first"))).status).toBe(200);
  await groups.relate(`zone:acme#admin@group:${id}#member`);
  const refused = await groups.add("lead", id, user("lead"));
  expect([refused.status, refused.body.code]).toEqual([403, "FORBIDDEN"]);
  // A manager of users may manage the members of each group, but not make administrators.
  expect((await groups.add("users", id, user("users"))).status).toBe(403);
  expect((await groups.add("root", id, user("chosen"))).status).toBe(200);
  // Also by a group that is a member of it.
  const inner = await groups.make("root", "Inner");
  await groups.relate(`group:${inner}#owner@user:lead`, `group:${id}#member@group:${inner}#member`);
  expect((await groups.add("lead", inner, user("lead"))).status).toBe(403);
});

test("a group is not a member of itself, by whichever way", async () => {
  const [a, b] = [await groups.make("root", "A"), await groups.make("root", "B")];
  expect((await groups.add("root", a, set(a))).status).toBe(412);
  expect((await groups.add("root", a, set(b))).status).toBe(200);
  const closing = await groups.add("root", b, set(a));
  expect([closing.status, closing.body.message]).toEqual([
    412,
    "the group would be a member of itself",
  ]);
});

test("groups are members of one another in a row of 15 at most, by whichever call", async () => {
  const row: string[] = [];
  for (let place = 1; place <= 16; place++) row.push(await groups.make("root", `Row ${place}`));
  const last = row.at(-2) ?? "";
  for (const [index, id] of row.slice(0, 14).entries()) {
    expect((await groups.add("root", id, set(row[index + 1] ?? ""))).status).toBe(200);
  }
  const member = set(row.at(-1) ?? "");
  const relationship = {
    resource: { type: "group", id: last },
    relation: "member",
    subject: member,
  };
  const path = "/v1/iam/admin/relationships:write";
  const body = { relationships: [relationship] };
  for (const refused of [
    await groups.add("root", last, member),
    await iam.call("POST", path, body, asUser("root")),
  ]) {
    expect([refused.status, refused.body.code, refused.body.message]).toEqual([
      412,
      "FAILED_PRECONDITION",
      expect.stringMatching(/^at most 15 groups can be members of one another in a row: add /),
    ]);
  }
  // Who may not add it does not learn how long the row is.
  expect((await groups.add("nobody", last, member)).status).toBe(403);
  expect((await groups.add("root", last, user("alice"))).status).toBe(200);
});

test("a group that does not exist does not become a member", async () => {
  const id = await groups.make("root", "Existing");
  expect((await groups.add("root", id, set("nothing"))).status).toBe(412);
});

test("the last enabled user who owns the zone stays a member of the group by which it does", async () => {
  const password = "correct horse battery staple";
  const made = await iam.call(
    "POST",
    "/v1/users",
    { username: "olga", displayName: "Olga", email: "olga@example.com", password },
    { "x-svc-auth-verified": "true", "x-svc-user-id": "root", "x-svc-org-id": "acme" },
  );
  const olga = user(made.body.id);
  const id = await groups.make("root", "Owners");
  expect((await groups.add("root", id, olga)).status).toBe(200);
  await groups.relate(`zone:acme#owner@group:${id}#member`);
  const refused = await groups.drop("root", id, olga);
  expect([refused.status, refused.body.code]).toEqual([412, "FAILED_PRECONDITION"]);
  expect(refused.body.message).toContain("last enabled user who owns the zone");
});

test("the audit names the group and the member", async () => {
  const id = await groups.make("root", "Audited");
  await groups.add("root", id, user("alice"));
  await groups.drop("root", id, user("alice"));
  const found: unknown[] = [];
  for await (const { type, data } of iam.server.audit?.export({}) ?? []) {
    if (data.resource !== `group:${id}`) continue;
    found.push([type, (data as { details?: { member?: string } }).details?.member]);
  }
  expect(found).toEqual(
    expect.arrayContaining([
      ["iam.group.create", undefined],
      ["iam.group_member.add", undefined],
      ["group.member_added", "user:alice"],
      ["iam.group_member.remove", undefined],
      ["group.member_removed", "user:alice"],
    ]),
  );
});
