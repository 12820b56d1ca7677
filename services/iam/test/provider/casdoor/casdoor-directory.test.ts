import { expect, test } from "vitest";
import type { GroupQuery, UserQuery } from "../../../src/provider/directory.ts";
import {
  casdoorGroup,
  casdoorOrganization,
  casdoorUser,
} from "../../support/casdoor/casdoor-records.ts";
import {
  ALICE,
  answerWith,
  BOB,
  directoryFixture,
  FOREIGN,
  GONE,
  signal,
} from "../../support/casdoor/directory-fixture.ts";

const it = directoryFixture();

const usernames = async (query: Partial<UserQuery> = {}) =>
  (await it.users(query))?.items.map(({ username }) => username);
const groupIds = async (query: Partial<GroupQuery> = {}) =>
  (await it.groups(query))?.items.map(({ id }) => id);

test.each(["x", "casdoor.users.0", "casdoor.users.-1", "casdoor.users.1e3", "casdoor.groups.YQ"])(
  "the page token %s of users is an invalid argument",
  async (after) => {
    await expect(it.users({ after })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  },
);

test.each(["x", "casdoor.users.7", "casdoor.groups.", "casdoor.groups.YQ=="])(
  "the page token %s of groups is an invalid argument",
  async (after) => {
    await expect(it.groups({ after })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  },
);

test("a user is found in the own organization only [IDP-17]", async () => {
  expect(await it.directory.user("acme", ALICE.id, signal)).toEqual({
    id: ALICE.id,
    username: "alice",
    displayName: "Alice",
    email: "alice@example.com",
    organizationId: "acme",
    groupIds: ["acme/staff", "acme/ops"],
    avatarUrl: "",
    disabled: false,
    createTime: Date.parse("2024-05-05T23:08:09Z"),
    updateTime: undefined,
  });
  expect(await it.directory.user("acme", BOB.id, signal)).toMatchObject({
    disabled: true,
    groupIds: ["acme/staff"],
  });
  for (const id of [GONE.id, FOREIGN.id, "", "unknown", "evil/mallory"]) {
    expect(await it.directory.user("acme", id, signal)).toBeUndefined();
  }
  expect(await it.directory.user("evil", FOREIGN.id, signal)).toBeUndefined();
});

test("pictures and names that could harm are not passed on", async () => {
  it.casdoor.data.users = [{ ...ALICE, avatar: "javascript:alert(1)", displayName: "A\u0007\nB" }];
  expect((await it.users())?.items).toMatchObject([{ avatarUrl: "", displayName: "A  B" }]);
  it.casdoor.data.users = [{ ...ALICE, avatar: "https://cdn.example.com/a.png" }];
  expect((await it.users())?.items[0]?.avatarUrl).toBe("https://cdn.example.com/a.png");
});

test("users are listed by name, and selected by the start of a text and by group [IDP-17]", async () => {
  expect(await usernames()).toEqual(["alice", "bob"]);
  expect(await usernames({ text: "AL" })).toEqual(["alice"]);
  expect(await usernames({ text: "bob@" })).toEqual(["bob"]);
  expect(await usernames({ text: "lice" })).toEqual([]);
  expect(await usernames({ groupId: "acme/staff" })).toEqual(["alice", "bob"]);
  expect(await usernames({ groupId: "acme/ops", text: "bob" })).toEqual([]);
  const query = { size: 50, after: "", text: "", groupId: "" };
  expect(await it.directory.users("evil", query, signal)).toBeUndefined();
});

test("pages of users have each user once", async () => {
  const names = Array.from({ length: 250 }, (_, index) => `u${String(index).padStart(3, "0")}`);
  it.casdoor.data.users = names.map((name) => casdoorUser(name));
  const listed: string[] = [];
  for (let after = "", count = 0; count < 10; count++) {
    const page = await it.users({ size: 60, after });
    listed.push(...(page?.items ?? []).map(({ username }) => username));
    after = page?.next ?? "";
    if (after === "") break;
  }
  expect(listed).toEqual(names);
});

test("a page of a rare text ends after ten reads, and the next one continues", async () => {
  const names = Array.from({ length: 1100 }, (_, index) => `u${String(index).padStart(4, "0")}`);
  it.casdoor.data.users = [...names, "zoe"].map((name) => casdoorUser(name));
  const before = it.casdoor.requests.length;
  const first = await it.users({ text: "zoe" });
  expect(it.casdoor.requests.length - before).toBe(10);
  expect(first).toEqual({ items: [], next: "casdoor.users.1000" });
  expect(await usernames({ text: "zoe", after: first?.next ?? "" })).toEqual(["zoe"]);
});

test("users that were deleted between two pages end the list", async () => {
  expect(await it.users({ after: "casdoor.users.700" })).toEqual({ items: [], next: "" });
});

test("groups are listed by id, in pages and below a group", async () => {
  expect(await it.groups()).toMatchObject({
    items: [
      { id: "acme/ops", parentId: "acme/staff", organizationId: "acme", displayName: "ops" },
      { id: "acme/staff", parentId: "" },
    ],
    next: "",
  });
  expect(await groupIds({ parentId: "acme/staff" })).toEqual(["acme/ops"]);
  const first = await it.groups({ size: 1 });
  expect(await groupIds({ size: 1, after: first?.next ?? "" })).toEqual(["acme/staff"]);
});

test("all of many groups are read", async () => {
  it.casdoor.data.groups = Array.from({ length: 450 }, (_, index) => casdoorGroup(`g${index}`));
  expect((await it.groups({ size: 1000 }))?.items).toHaveLength(450);
});

test("the organization is found, and no other", async () => {
  expect(await it.directory.organization("acme", signal)).toMatchObject({
    id: "acme",
    websiteUrl: "https://acme.example.com",
    createTime: Date.parse("2024-05-05T23:08:09Z"),
  });
  expect(await it.directory.organization("evil", signal)).toBeUndefined();
  it.casdoor.intercept = answerWith(casdoorOrganization("evil"));
  await expect(it.directory.organization("acme", signal)).rejects.toMatchObject({
    code: "UNAVAILABLE",
  });
});
