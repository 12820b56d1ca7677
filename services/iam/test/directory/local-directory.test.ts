/** IAMDirectoryService over the local users, groups and organizations. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { AS_HUB, asUser, type IamService, startIam } from "../support/iam-service.ts";
import { relate, startUsers } from "../support/passwords.ts";

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

test("who may view users does not see groups, and the other way round", async () => {
  const [viewer, groupViewer] = [asUser(users["ann"] ?? ""), asUser(users["bea"] ?? "")];
  expect((await get("acme/users", viewer)).status).toBe(200);
  expect((await get("acme/groups", viewer)).status).toBe(403);
  expect((await get("acme/users", groupViewer)).status).toBe(403);
  expect((await get("acme/groups", groupViewer)).status).toBe(200);
});

test.each([
  ["users?page_token=x"],
  ["users?page_token=users.1.Qm9i"],
  ["groups?page_token=users.1.Ym9i"],
  ["users?page_size=1001"],
  ["users?page_size=-1"],
  [`users?query=${"a".repeat(257)}`],
  [`users?group_id=${"a".repeat(257)}`],
])("%.40s is not valid", async (path) => {
  expect((await get(`acme/${path}`)).body).toMatchObject({ code: "INVALID_ARGUMENT" });
});

test("the organization and its users are found, with their groups", async () => {
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
  } while (token !== "");
  expect(found).toEqual(["ann", "bea", "carl", "root", "Zoe"]);
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
