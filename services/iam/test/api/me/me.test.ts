import type { JsonObject } from "@bufbuild/protobuf";
import type { AuthorizationEngine } from "svc-access/authz";
import type { CallContext, Principal } from "svc-access/runtime";
import { startTestServer, type TestServer } from "svc-access/testing";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { IAMAuthService, Theme } from "../../../gen/svc/iam/v1/auth_pb.ts";
import {
  bindIAMAuthService,
  type IAMAuthServiceHandlers,
} from "../../../gen/svc/iam/v1/auth_server.ts";
import { CurrentUser } from "../../../src/api/me/current-user.ts";
import { LocalProfiles } from "../../../src/api/me/local-profiles.ts";
import { PreferenceStore } from "../../../src/api/me/preferences.ts";
import { ProfileStore } from "../../../src/api/me/profiles.ts";
import { CurrentPreferences } from "../../../src/api/me/user-preferences.ts";
import { Groups } from "../../../src/api/users/groups.ts";
import type { UserTables } from "../../../src/ground/store/user-tables.ts";
import { LocalAccounts } from "../../../src/people/accounts/local-accounts.ts";
import { stackDatabase } from "../../support/databases.ts";

let server: TestServer;
let alice: string;
let accounts: LocalAccounts;
let engine: AuthorizationEngine;
let currentUser: CurrentUser;
/** Writes preferences as an earlier version has stored them. */
let storeDocument: (document: string) => Promise<unknown>;
beforeEach(async () => {
  const opened = (await stackDatabase()).open().as<UserTables>();
  const database = opened.kysely;
  storeDocument = (document) => database.updateTable("iam_preferences").set({ document }).execute();
  accounts = new LocalAccounts(database, "acme");
  const account = await accounts.create({
    username: "alice",
    displayName: "Alice Baker",
    email: "alice@example.com",
    passwordHash: "",
  });
  alice = account?.id ?? "";
  server = await startTestServer(
    (opens) => {
      engine = opens;
      currentUser = new CurrentUser({
        local: { accounts, profiles: new LocalProfiles(opened, accounts) },
        profiles: new ProfileStore(database),
        groups: new Groups(engine),
        organization: "acme",
      });
      const preferences = new CurrentPreferences(new PreferenceStore(database), "acme");
      // The other handlers have tests of their own.
      const handlers: Partial<IAMAuthServiceHandlers> = {
        getMe: async (_, context) => ({ user: await currentUser.get(context) }),
        updateMe: async (request, context) => ({
          user: await currentUser.update(request, context),
        }),
        getUserPreferences: async (_, context) => ({ preferences: await preferences.get(context) }),
        updateUserPreferences: async (request, context) => ({
          preferences: await preferences.update(request, context),
        }),
      };
      const absent = new Proxy(handlers, {
        get: (target, name) =>
          Reflect.get(target, name) ?? (() => Promise.reject(new Error("absent"))),
      });
      return bindIAMAuthService(absent as IAMAuthServiceHandlers);
    },
    {
      model: new URL("../../../../../model/iam.zed", import.meta.url).pathname,
      relationships: [`group:staff#member@user:${alice}`, "group:staff#member@user:carol"],
    },
  );
  onTestFinished(() => server.close());
});

const asUser = (user: string) =>
  server.as({ user, organizationId: "acme", name: "From the token", email: "t@example.com" });
const client = (user: string) => asUser(user).grpc(IAMAuthService);

test("a local user sees the own account and groups [IAM-40]", async () => {
  const response = await asUser(alice).fetch("/v1/iam/me");
  expect(response.status).toBe(200);
  expect(await response.json()).toMatchObject({
    subjectId: alice,
    name: "Alice Baker",
    email: "t@example.com",
    organizationId: "acme",
    groups: ["staff"],
    source: "gateway",
  });
  expect((await server.as("nobody").fetch("/v1/iam/me")).status).toBe(401);
});

test("a caller with the same token is shown the same record until anything of it changes", async () => {
  const principal: Principal = {
    subjectType: "user",
    subjectId: alice,
    username: "alice",
    name: "From the token",
    email: "t@example.com",
    organizationId: "acme",
    groups: [],
    roles: [],
    scopes: [],
    source: "jwt",
  };
  const { signal } = new AbortController();
  const shown = () => currentUser.get({ principal, signal } as unknown as CallContext);
  const membership = {
    resource: { type: "group", id: "board" },
    relation: "member",
    subject: { type: "user", id: alice },
  };
  const write = (operation: "CREATE" | "DELETE") =>
    engine.writeRelationships({ updates: [{ operation, relationship: membership }] });

  const first = await shown();
  expect(first).toMatchObject({ name: "Alice Baker", groups: ["staff"] });
  expect(await shown()).toBe(first);
  const other = { ...membership, subject: { type: "user", id: "carol" } };
  await engine.writeRelationships({ updates: [{ operation: "CREATE", relationship: other }] });
  expect(await shown()).toBe(first);
  await write("CREATE");
  expect((await shown()).groups.toSorted()).toEqual(["board", "staff"]);
  await write("DELETE");
  expect((await shown()).groups).toEqual(["staff"]);
  await accounts.changeProfile(alice, { displayName: "Al", avatarUrl: "" }, first.etag);
  expect(await shown()).toMatchObject({ name: "Al", groups: ["staff"] });
  expect(
    await currentUser.get({ principal: { ...principal, email: "" }, signal } as never),
  ).toMatchObject({
    email: "",
  });
});

test("groups that the identity provider names are shown, each once", async () => {
  const groups = ["acme/staff", "staff"];
  const caller = server.as({ user: "carol", organizationId: "acme", groups });
  const { user } = await caller.grpc(IAMAuthService).getMe({});
  expect(user?.groups).toEqual(["staff", "acme/staff"]);
});

test.each([
  ["a local user", () => alice],
  ["a user of another provider", () => "carol"],
])("%s changes the own profile several times at once", async (_, subject) => {
  const { updateMe, getMe } = client(subject());
  const avatarUrl = "https://example.com/a.png";
  await Promise.all(
    Array.from({ length: 8 }, (_, index) =>
      updateMe({ user: index % 2 === 0 ? { name: "Al" } : { avatarUrl } }),
    ),
  );
  expect((await getMe({})).user).toMatchObject({ name: "Al", avatarUrl });
});

test.each([
  ["a local user", () => alice],
  ["a user of another provider", () => "carol"],
])("%s changes the own name and picture", async (_, subject) => {
  const { updateMe, getMe } = client(subject());
  const { user: named } = await updateMe({ user: { name: "Al" } });
  expect(named).toMatchObject({ name: "Al", avatarUrl: "", groups: ["staff"] });
  const avatarUrl = "https://example.com/a.png";
  const { user: pictured } = await updateMe({ user: { avatarUrl, etag: named?.etag ?? "" } });
  expect(pictured).toMatchObject({ name: "Al", avatarUrl });
  await expect(updateMe({ user: { name: "Late", etag: named?.etag ?? "" } })).rejects.toMatchObject(
    { code: "FAILED_PRECONDITION" },
  );
  // With a mask, an empty value removes.
  await updateMe({ user: { name: "ignored" }, updateMask: { paths: ["avatar_url"] } });
  expect((await getMe({})).user).toMatchObject({ name: "Al", avatarUrl: "" });
  expect((await client("dave").getMe({})).user).toMatchObject({
    name: "From the token",
    groups: [],
  });
});

test.each([
  [{ name: " " }, "name is required"],
  [{ name: "a\nb" }, "name must not contain control characters"],
  [{ avatarUrl: "javascript:alert(1)" }, "avatar_url must be an https URL"],
])("%j is refused", async (user, message) => {
  await expect(client(alice).updateMe({ user })).rejects.toMatchObject({
    code: "INVALID_ARGUMENT",
    message,
  });
});

test("a service account changes no profile and no preferences of a user [IAM-43]", async () => {
  const robot = server.as({ subjectType: "service_account", user: alice, organizationId: "acme" });
  const { getMe, updateMe, updateUserPreferences } = robot.grpc(IAMAuthService);
  const refused = { code: "FORBIDDEN", message: "the caller is not a user" };
  await expect(updateMe({ user: { name: "Root" } })).rejects.toMatchObject(refused);
  await expect(updateUserPreferences({ preferences: { language: "de" } })).rejects.toMatchObject(
    refused,
  );
  expect((await getMe({})).user?.etag).toBe("");
});

test("what an update does not change is refused with another value [IAM-43]", async () => {
  const { getMe, updateMe } = client(alice);
  for (const user of [{ email: "x@example.com" }, { username: "root" }, { roles: ["admin"] }]) {
    await expect(updateMe({ user: { name: "A", ...user } })).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
      message: `${Object.keys(user)[0]} cannot be changed here: leave it out; only name, avatar_url can be changed`,
    });
  }
  const { user = expect.fail() } = await getMe({});
  expect((await updateMe({ user: { ...user, name: "Ann" } })).user?.name).toBe("Ann");
});

test("an update of nothing changes nothing, and of an unknown field is refused [IAM-43]", async () => {
  const { updateMe } = client(alice);
  const { user } = await updateMe({});
  expect((await updateMe({ user: {} })).user?.etag).toBe(user?.etag);
  await expect(
    updateMe({ user: { name: "A" }, updateMask: { paths: ["email"] } }),
  ).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
});

test("preferences have defaults until they are set, one by one [IAM-43]", async () => {
  const { getUserPreferences, updateUserPreferences } = client(alice);
  const { preferences: first } = await getUserPreferences({});
  expect(first).toMatchObject({ language: "en", timeZone: "UTC", theme: Theme.SYSTEM, etag: "" });
  expect(first?.updateTime).toBeUndefined();
  const settings = { columns: ["name", 1, null, { wide: true }] };
  await updateUserPreferences({ preferences: { language: "ZH-cn", settings } });
  const { preferences: second } = await updateUserPreferences({
    preferences: { theme: Theme.DARK, timeZone: "Asia/Shanghai" },
  });
  expect(second).toMatchObject({
    language: "zh-CN",
    timeZone: "Asia/Shanghai",
    theme: Theme.DARK,
    settings,
  });
  await expect(
    updateUserPreferences({ preferences: { language: "de", etag: "another" } }),
  ).rejects.toMatchObject({ code: "FAILED_PRECONDITION" });
  const { preferences: third } = await updateUserPreferences({
    preferences: { etag: second?.etag ?? "" },
    updateMask: { paths: ["settings", "language"] },
  });
  expect(third).toMatchObject({ language: "en", theme: Theme.DARK });
  expect(third?.settings).toBeUndefined();
  expect((await client("carol").getUserPreferences({})).preferences?.theme).toBe(Theme.SYSTEM);
});

test.each([
  [{ language: "not a language" }, "language is not a BCP 47 tag, such as en or zh-CN"],
  [{ language: "x".repeat(100) }, "language is not a BCP 47 tag, such as en or zh-CN"],
  [{ timeZone: "Mars/Olympus" }, "time_zone is not the name of a time zone, such as Asia/Shanghai"],
  [{ timeZone: "+08:00" }, "time_zone is not the name of a time zone, such as Asia/Shanghai"],
  [{ theme: 9 as Theme }, "theme 9 is not known"],
  [
    { settings: { text: "é".repeat(8192) } },
    "settings have 16395 bytes as JSON; at most 16384 are kept",
  ],
])("preferences %j are refused", async (preferences, message) => {
  await expect(client(alice).updateUserPreferences({ preferences })).rejects.toMatchObject({
    code: "INVALID_ARGUMENT",
    message,
  });
});

/** Settings with a number of objects in each other. */
function nested(levels: number): JsonObject {
  let settings: JsonObject = { a: 1 };
  for (let level = 1; level < levels; level++) settings = { a: settings };
  return settings;
}
const TOO_DEEP =
  /^the field "(preferences\.)?settings" is nested deeper than 100 messages, the most that protobuf decodes/;

function patchSettings(settings: JsonObject) {
  return asUser(alice).fetch("/v1/iam/me/preferences", {
    method: "PATCH",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ settings }),
  });
}

// Clients with the usual limit of protobuf read the response with 33 levels, and no more.
test.each([34, 60, 96, 97, 98, 99])("settings of %d levels are refused", async (levels) => {
  await client(alice).updateUserPreferences({ preferences: { settings: nested(33) } });
  const refused = await patchSettings(nested(levels));
  expect(refused.status).toBe(400);
  expect(await refused.json()).toMatchObject({
    code: "INVALID_ARGUMENT",
    message: expect.stringMatching(TOO_DEEP),
  });
  await expect(
    client(alice).updateUserPreferences({ preferences: { settings: nested(levels) } }),
  ).rejects.toMatchObject({
    code: "INVALID_ARGUMENT",
    message: expect.stringMatching(TOO_DEEP),
  });
  const { preferences } = await client(alice).getUserPreferences({});
  expect(preferences?.settings).toEqual(nested(33));
  expect((await patchSettings(nested(33))).status).toBe(200);
});

test("settings that were stored deeper are read as JSON, kept by other changes, and replaced", async () => {
  await client(alice).updateUserPreferences({ preferences: { language: "de" } });
  await storeDocument(JSON.stringify({ language: "de", settings: nested(97) }));
  const read = await asUser(alice).fetch("/v1/iam/me/preferences");
  expect(read.status).toBe(200);
  expect(await read.json()).toMatchObject({ language: "de", settings: nested(97) });
  const other = await asUser(alice).fetch("/v1/iam/me/preferences", {
    method: "PATCH",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ language: "fr" }),
  });
  expect(await other.json()).toMatchObject({ language: "fr", settings: nested(97) });
  const replaced = await patchSettings(nested(1));
  expect(await replaced.json()).toMatchObject({ language: "fr", settings: { a: 1 } });
  const { preferences } = await client(alice).getUserPreferences({});
  expect(preferences?.settings).toEqual({ a: 1 });
});

test("of several changes at once each counts, whichever is the last", async () => {
  const { updateUserPreferences, getUserPreferences } = client(alice);
  const answers = await Promise.all(
    Array.from({ length: 4 }, (_, index) =>
      updateUserPreferences({ preferences: { settings: { index } } }),
    ),
  );
  const indexes = answers.map(({ preferences }) => preferences?.settings?.index);
  expect(indexes).toEqual([0, 1, 2, 3]);
  expect(indexes).toContain((await getUserPreferences({})).preferences?.settings?.index);
});

test("a caller of whom no organization is named is the local user of that id [IAM-40]", async () => {
  const caller = server.as({ user: alice, organizationId: "", name: "From the token" });
  const unnamed = caller.grpc(IAMAuthService);
  expect((await unnamed.getMe({})).user).toMatchObject({
    name: "Alice Baker",
    groups: ["staff"],
  });
  await unnamed.updateMe({ user: { name: "Al" } });
  await unnamed.updateUserPreferences({ preferences: { language: "de" } });
  expect((await client(alice).getMe({})).user?.name).toBe("Al");
  expect((await client(alice).getUserPreferences({})).preferences?.language).toBe("de");
});

test("a caller of another organization shares nothing with the local user of the same id [IAM-40]", async () => {
  const stranger = server
    .as({ user: alice, organizationId: "other", name: "Mallory", email: "m@example.com" })
    .grpc(IAMAuthService);
  expect((await stranger.getMe({})).user).toMatchObject({ name: "Mallory", groups: [] });
  const user = { name: "Taken over" };
  const updated = await stranger.updateMe({ user, updateMask: { paths: ["name"] } });
  expect(updated.user).toMatchObject({ name: "Taken over", groups: [] });
  const named = server.as({ user: alice, organizationId: "other", groups: ["theirs"] });
  expect((await named.grpc(IAMAuthService).getMe({})).user?.groups).toEqual(["theirs"]);
  await stranger.updateUserPreferences({
    preferences: { language: "fr" },
    updateMask: { paths: ["language"] },
  });
  expect((await client(alice).getMe({})).user?.name).toBe("Alice Baker");
  expect((await client(alice).getUserPreferences({})).preferences?.language).toBe("en");
  expect((await stranger.getMe({})).user?.name).toBe("Taken over");
  expect((await stranger.getUserPreferences({})).preferences?.language).toBe("fr");
});
