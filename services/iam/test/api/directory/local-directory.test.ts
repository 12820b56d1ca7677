/** IAMDirectoryService over the local users, groups and organizations. */
import { randomUUID } from "node:crypto";
import type { AuthorizationEngine } from "svc-access/authz";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { AS_HUB, asUser, type IamService, startIam } from "../../support/iam-service.ts";
import { relate, startUsers } from "../../support/passwords.ts";

let iam: IamService;
let users: Record<string, string>;
const groups: Record<string, string> = {};
beforeAll(async () => {
  iam = await startIam({
    authn: {
      internal_call: {
        enabled: true,
        token: [{ service: "hub", token: AS_HUB["X-Svc-Internal-Token"] }],
        system_token: "the-system-token-of-the-directory-test",
      },
    },
  });
  users = await startUsers(iam, ["Zoe", "ann", "bea", "carl"]);
  await relate(iam, "user_viewer", users["ann"] ?? "");
  await relate(iam, "group_viewer", users["bea"] ?? "");
  for (const [name, parentId] of [
    ["staff", ""],
    ["ops", "staff"],
    ["dev", "staff"],
  ] as const) {
    const body = { displayName: name, parentId: groups[parentId] ?? "" };
    const path = "/v1/iam/organizations/acme/groups";
    const made = await iam.call("POST", path, body, asUser("root"));
    groups[name] = made.body?.id ?? expect.fail(JSON.stringify(made.body));
  }
  await join("staff", "Zoe");
  await join("staff", "carl");
  await join("ops", "bea");
});
afterAll(() => iam.stop());

async function join(group: string, username: string): Promise<void> {
  const relationship = {
    resource: { type: "group", id: groups[group] ?? "" },
    relation: "member",
    subject: { type: "user", id: users[username] ?? "" },
  };
  await iam.options.engine?.writeRelationships({ updates: [{ operation: "TOUCH", relationship }] });
}

const get = (path: string, headers = asUser("root")) =>
  iam.call("GET", `/v1/iam/organizations/${path}`, undefined, headers);
const names = (list: readonly { readonly username: string }[] = []) =>
  list.map(({ username }) => username);

test.each(["acme", "acme/users", "acme/users/x", "acme/groups"])(
  "%s is refused to whoever holds nothing in the zone",
  async (path) => {
    expect((await get(path, {})).status).toBe(401);
    expect((await get(path, AS_HUB)).status).toBe(403);
    expect((await get(path, asUser(users["carl"] ?? ""))).status).toBe(403);
    expect((await get(path.replace("acme", "other"))).status).toBe(403);
  },
);

test("who may view users does not see groups, and the other way round [IAM-44]", async () => {
  const [viewer, groupViewer] = [asUser(users["ann"] ?? ""), asUser(users["bea"] ?? "")];
  expect((await get("acme/users", viewer)).status).toBe(200);
  expect((await get("acme/groups", viewer)).status).toBe(403);
  expect((await get("acme/users", groupViewer)).status).toBe(403);
  expect((await get("acme/groups", groupViewer)).status).toBe(200);
});

test("who may view users sees neither the members of groups nor the groups of users [IAM-22]", async () => {
  const viewer = asUser(users["ann"] ?? "");
  const [staff, zoe] = [groups["staff"] ?? "", users["Zoe"] ?? ""];
  for (const group of [staff, randomUUID()]) {
    expect((await get(`acme/users?group_id=${group}`, viewer)).body).toMatchObject({
      code: "FORBIDDEN",
    });
  }
  const groupsOf = async (path: string) => {
    const { status, body } = await iam.call("GET", path, undefined, viewer);
    expect(status).toBe(200);
    const listed = body.users ?? [body];
    return listed.find(({ id }: { id: string }) => id === zoe).groupIds ?? [];
  };
  const paths = [
    "/v1/iam/organizations/acme/users",
    `/v1/iam/organizations/acme/users/${zoe}`,
    "/v1/users",
    `/v1/users/${zoe}`,
  ];
  for (const path of paths) expect([path, await groupsOf(path)]).toEqual([path, []]);
  // Of what the viewer sees, all is there.
  const relationship = {
    resource: { type: "group", id: staff },
    relation: "viewer",
    subject: { type: "user", id: users["ann"] ?? "" },
  };
  const change = (operation: "TOUCH" | "DELETE") =>
    iam.options.engine?.writeRelationships({ updates: [{ operation, relationship }] });
  await change("TOUCH");
  for (const path of paths) expect([path, await groupsOf(path)]).toEqual([path, [staff]]);
  const listed = await get(`acme/users?group_id=${staff}`, viewer);
  expect(names(listed.body.users)).toEqual(["carl", "Zoe"]);
  await change("DELETE");
});

test("the caller sees the own groups", async () => {
  const { body } = await iam.call("GET", "/v1/iam/me", undefined, asUser(users["Zoe"] ?? ""));
  expect(body.groups).toEqual([groups["staff"]]);
});

test("the group above is named to those who may see it [IAM-22]", async () => {
  const [staff, ops] = [groups["staff"] ?? "", groups["ops"] ?? ""];
  const parentFor = async (username: string) => {
    const caller = asUser(users[username] ?? "");
    const { body } = await get(`acme/groups/${ops}`, caller);
    const visible = (await get("acme/groups:visible", caller)).body.groups;
    const listed = visible.find(({ id }: { id: string }) => id === ops);
    return [body.parentId ?? "", listed.parentId ?? ""];
  };
  // By the group above, and by the zone.
  expect(await parentFor("carl")).toEqual([staff, staff]);
  expect(await parentFor("bea")).toEqual([staff, staff]);
  const relationship = {
    resource: { type: "group", id: ops },
    relation: "viewer",
    subject: { type: "user", id: users["ann"] ?? "" },
  };
  await iam.options.engine?.writeRelationships({
    updates: [{ operation: "TOUCH", relationship }],
  });
  expect(await parentFor("ann")).toEqual(["", ""]);
});

test.each([
  ["users?page_token=x"],
  // Of a former version.
  ["users?page_token=users.1.Ym9i"],
  ["groups?page_token=users.1.Ym9i"],
  ["users?page_size=1001"],
  ["users?page_size=-1"],
  [`users?query=${"a".repeat(257)}`],
  [`users?group_id=${"a".repeat(257)}`],
])("%.40s is not valid", async (path) => {
  expect((await get(`acme/${path}`)).body).toMatchObject({ code: "INVALID_ARGUMENT" });
});

test("the organization and its users are found, with their groups [IAM-44]", async () => {
  expect((await get("acme")).body).toMatchObject({ id: "acme" });
  const { body } = await get(`acme/users/${users["Zoe"]}`);
  expect(body).toMatchObject({
    username: "Zoe",
    organizationId: "acme",
    groupIds: [groups["staff"]],
  });
  expect(JSON.stringify(body)).not.toContain("argon2");
  expect((await get(`acme/users/${randomUUID()}`)).status).toBe(404);
});

test("users are listed by user name, by what their names begin with, and by group, in pages", async () => {
  expect(names((await get("acme/users")).body.users)).toEqual([
    "ann",
    "bea",
    "carl",
    "root",
    "Zoe",
  ]);
  expect(names((await get("acme/users?query=ZO")).body.users)).toEqual(["Zoe"]);
  expect((await get("acme/users?query=nobody")).body.users ?? []).toEqual([]);
  const staff = `acme/users?group_id=${groups["staff"]}`;
  expect(names((await get(staff)).body.users)).toEqual(["carl", "Zoe"]);
  expect(names((await get(`${staff}&query=c`)).body.users)).toEqual(["carl"]);
  expect((await get(`acme/users?group_id=${randomUUID()}`)).body.users ?? []).toEqual([]);
  const found: string[] = [];
  let token = "";
  do {
    const { body } = await get(`acme/users?page_size=2&page_token=${token}`);
    found.push(...names(body.users));
    token = body.nextPageToken ?? "";
    if (token === "") break;
    // It is one of this list and this caller.
    for (const path of [
      `acme/users?query=b&page_token=${token}`,
      `acme/groups?page_token=${token}`,
    ]) {
      expect((await get(path)).body.message).toContain("first page");
    }
    const another = await get(`acme/users?page_token=${token}`, asUser(users["ann"] ?? ""));
    expect(another.body.message).toContain("first page");
  } while (token !== "");
  expect(found).toEqual(["ann", "bea", "carl", "root", "Zoe"]);
});

test("the members of a group are listed while relationships are written", async () => {
  const engine = iam.options.engine as AuthorizationEngine;
  const read = engine.readRelationships.bind(engine);
  let writes = 0;
  // A page of one, and a write before the second: the engine then lists from the first page only.
  const reads = vi
    .spyOn(engine, "readRelationships")
    .mockImplementation(async (filter, page, options) => {
      if (filter.relation !== "member" || filter.resourceId !== groups["staff"]) {
        return read(filter, page, options);
      }
      if (page?.cursor !== undefined && writes++ === 0) {
        await relate(iam, "user_viewer", randomUUID());
      }
      return read(filter, { ...page, pageSize: 1 }, options);
    });
  const { body } = await get(`acme/users?group_id=${groups["staff"]}`);
  reads.mockRestore();
  expect(names(body.users)).toEqual(["carl", "Zoe"]);
  // The cursors of SpiceDB outlive writes.
  expect(writes).toBeGreaterThan(engine.kind === "embedded" ? 1 : 0);
});

test("groups are listed by id with those above them, in pages, or right below one", async () => {
  const all = (await get("acme/groups")).body.groups;
  expect(all.map(({ id }: { id: string }) => id)).toEqual(Object.values(groups).sort());
  const parents = Object.fromEntries(all.map((one: any) => [one.displayName, one.parentId ?? ""]));
  expect(parents).toEqual({ staff: "", ops: groups["staff"], dev: groups["staff"] });
  const below: string[] = [];
  let token = "";
  do {
    const query = `parent_id=${groups["staff"]}&page_size=1&page_token=${token}`;
    const { body } = await get(`acme/groups?${query}`);
    below.push(...body.groups.map(({ id }: { id: string }) => id));
    token = body.nextPageToken ?? "";
  } while (token !== "");
  expect(below).toEqual([groups["ops"], groups["dev"]].sort());
  expect((await get(`acme/groups?parent_id=${randomUUID()}`)).body.groups ?? []).toEqual([]);
});

test("another organization has no users, and its users are not found", async () => {
  const system = { "X-Svc-Internal-Token": "the-system-token-of-the-directory-test" };
  const owner = { type: "user", id: "root" };
  const body = { organizationId: "empty", displayName: "Empty", owner };
  const made = await iam.call("POST", "/v1/iam/system/organizations", body, system);
  if (made.status !== 200) expect.fail(JSON.stringify(made.body));
  expect((await get("empty/users")).body).toEqual({ users: [], nextPageToken: "" });
  expect((await get(`empty/users/${users["ann"]}`)).status).toBe(404);
  expect((await get("empty/groups")).body.groups ?? []).toEqual([]);
  expect((await get(`empty/groups?parent_id=${groups["staff"]}`)).body.groups ?? []).toEqual([]);
});

test("a user's groups of other zones are shown to those who may see them only [IAM-11]", async () => {
  const [zoe = "", ann = ""] = [users["Zoe"], users["ann"]];
  const relationship = {
    resource: { type: "zone", id: "other" },
    relation: "owner",
    subject: { type: "user", id: "stranger" },
  };
  await iam.options.engine?.writeRelationships({ updates: [{ operation: "TOUCH", relationship }] });
  const path = "/v1/iam/organizations/other/groups";
  const body = { displayName: "theirs" };
  const made = await iam.call("POST", path, body, asUser("stranger", "other"));
  groups["theirs"] = made.body.id;
  await join("theirs", "Zoe");
  const groupsFor = async (headers: ReturnType<typeof asUser>) => {
    const list = await get("acme/users", headers);
    const found = list.body.users.find(({ id }: { id: string }) => id === zoe);
    const one = (await get(`acme/users/${zoe}`, headers)).body;
    expect(one.groupIds ?? []).toEqual(found.groupIds ?? []);
    const local = (await iam.call("GET", "/v1/users", undefined, headers)).body.users;
    const same = local.find(({ id }: { id: string }) => id === zoe);
    expect(same.groupIds ?? []).toEqual(found.groupIds ?? []);
    return found.groupIds ?? [];
  };
  // Whoever sees all groups of the zone does not see those of others by that.
  expect(await groupsFor(asUser("root"))).toEqual([groups["staff"]]);
  expect((await get(`acme/users?group_id=${groups["theirs"]}`)).status).toBe(403);
  expect(await groupsFor(asUser(ann))).toEqual([]);
  await join("theirs", "ann");
  expect(await groupsFor(asUser(ann))).toEqual([groups["theirs"]]);
});
