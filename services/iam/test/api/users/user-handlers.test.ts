import { startTestServer, type TestServer } from "svc-access/testing";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { IAMLocalUserService } from "../../../gen/svc/iam/v1/users_pb.ts";
import { bindIAMLocalUserService } from "../../../gen/svc/iam/v1/users_server.ts";
import { AccountRights } from "../../../src/api/users/account-rights.ts";
import { ShownGroups } from "../../../src/api/users/shown-groups.ts";
import { userChangeHandlers } from "../../../src/api/users/user-change-handlers.ts";
import { userHandlers } from "../../../src/api/users/user-handlers.ts";
import type { UserTables } from "../../../src/ground/store/user-tables.ts";
import { LocalAccounts } from "../../../src/people/accounts/local-accounts.ts";
import { PasswordHasher } from "../../../src/people/accounts/passwords/password-hasher.ts";
import { UserPages } from "../../../src/people/accounts/user-pages.ts";
import { PAGE_TOKENS } from "../../rights/rights-engine.ts";
import { stackDatabase } from "../../support/databases.ts";
import { CHEAP } from "../../support/hash-cost.ts";

const MODEL = new URL("../../../../../model/iam.zed", import.meta.url).pathname;
const BOB = {
  username: "bob",
  displayName: "Bob Miller",
  email: "bob@example.com",
  password: "correct horse battery staple",
};

let server: TestServer;
let accounts: LocalAccounts;
beforeAll(async () => {
  const database = (await stackDatabase()).open().as<UserTables>();
  accounts = new LocalAccounts(database.kysely, "acme");
  const pages = new UserPages(database, "acme");
  const hasher = new PasswordHasher(CHEAP);
  server = await startTestServer(
    (engine) =>
      bindIAMLocalUserService({
        ...userHandlers({
          accounts,
          pages,
          hasher,
          groups: new ShownGroups(engine, "acme", { findAll: async () => new Map() }),
          rights: new AccountRights(engine, "acme"),
          pageTokens: PAGE_TOKENS,
          organization: "acme",
        }),
        // Tested with a whole service.
        ...userChangeHandlers({} as never),
      }),
    {
      model: MODEL,
      relationships: [
        "zone:acme#owner@user:root",
        "zone:acme#user_viewer@user:viewer",
        "zone:acme#user_manager@user:former",
        "zone:other#owner@user:stranger",
        "group:staff#zone@zone:acme",
      ],
    },
  );
});
afterAll(() => server.close());

const asUser = (user: string, organizationId = "acme") => server.as({ user, organizationId });
const post = (caller: ReturnType<typeof asUser>, body: object) =>
  caller.fetch("/v1/users", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });

test("a user is created by name, address and password, which is not returned [IAM-9, IAM-41]", async () => {
  const response = await post(asUser("root"), BOB);
  expect(response.status).toBe(200);
  const text = await response.text();
  expect(text).not.toContain(BOB.password);
  expect(text).not.toContain("argon2");
  const { password: _, ...visible } = BOB;
  expect(JSON.parse(text)).toMatchObject({ ...visible, organizationId: "acme" });
  const again = await post(asUser("root"), { ...BOB, username: "BOB" });
  expect(again.status).toBe(409);
  expect(await again.json()).toMatchObject({
    code: "ALREADY_EXISTS",
    message: "the user name is taken",
  });
});

test("a caller who may no longer manage users when the password is hashed creates nobody [IAM-9]", async () => {
  const hash = vi.spyOn(PasswordHasher.prototype, "hash").mockImplementationOnce(async () => {
    const relationship = {
      resource: { type: "zone", id: "acme" },
      relation: "user_manager",
      subject: { type: "user", id: "former" },
    };
    await server.engine?.writeRelationships({ updates: [{ operation: "DELETE", relationship }] });
    return "a hash";
  });
  const response = await post(asUser("former"), { ...BOB, username: "late" });
  hash.mockRestore();
  expect(response.status).toBe(403);
  expect(await accounts.findForLogin("late")).toBeUndefined();
});

test("users are listed by user name with their groups, in pages [IAM-41]", async () => {
  for (const username of ["zoe", "carol", "Anna"]) {
    await post(asUser("root"), { ...BOB, username, email: `${username}@example.com` });
  }
  const anna = (await accounts.findForLogin("anna"))?.account.id ?? "";
  await server.relate(`group:staff#member@user:${anna}`);
  const client = asUser("root").grpc(IAMLocalUserService);
  const names: string[] = [];
  let pageToken = "";
  do {
    const page = await client.listUsers({ pageSize: 2, pageToken });
    expect(page.users.length).toBeLessThanOrEqual(2);
    names.push(...page.users.map(({ username, groupIds }) => `${username} ${groupIds.join()}`));
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
  expect(names).toEqual(["Anna staff", "bob ", "carol ", "zoe "]);
  // The second one is of a former version.
  for (const token of ["x", "users.1.YW5uYQ"]) {
    await expect(client.listUsers({ pageToken: token })).rejects.toMatchObject({
      message: expect.stringContaining("list again from the first page"),
    });
  }
  const listed = await asUser("viewer").fetch("/v1/users");
  const { users } = (await listed.json()) as { users: { username: string }[] };
  expect(users.map(({ username }) => username)).toEqual(["Anna", "bob", "carol", "zoe"]);
});

test("all that is wrong with a new user is named at once, without the password [IAM-41]", async () => {
  const response = await post(asUser("root"), {
    username: "no spaces",
    displayName: "",
    email: "nowhere",
    password: "password1234",
  });
  expect(response.status).toBe(400);
  const text = await response.text();
  expect(text).not.toContain("password1234");
  expect(JSON.parse(text)).toMatchObject({
    code: "INVALID_ARGUMENT",
    details: {
      fields: {
        display_name: "is required",
        email: "is not a valid e-mail address",
        password: "is one of the common ones, which are guessed first",
      },
    },
  });
});

test.each([
  ["nobody", () => server.as("nobody"), 401],
  ["a user without the permission", () => asUser("viewer"), 403],
  ["the owner of another zone, in its own", () => asUser("stranger", "other"), 403],
  ["the owner of this zone, in another", () => asUser("root", "other"), 403],
  ["a user without an organization", () => asUser("root", ""), 403],
])("%s may not create a user", async (_, caller, status) => {
  const response = await post(caller(), { ...BOB, username: "mallory" });
  expect(response.status).toBe(status);
  expect(await accounts.findForLogin("mallory")).toBeUndefined();
});

test.each([
  "x",
  "users.1.",
  "users.1.!!",
  "users.2.Ym9i",
  "users.1.Qm9i",
  "users.1.Ym9i=",
  "0".repeat(5000),
])("the page token %j is refused", async (pageToken) => {
  const client = asUser("viewer").grpc(IAMLocalUserService);
  await expect(client.listUsers({ pageToken })).rejects.toMatchObject({
    code: "INVALID_ARGUMENT",
  });
});

test.each([-1, 1001, 2 ** 31 - 1])("the page size %d is refused", async (pageSize) => {
  const client = asUser("viewer").grpc(IAMLocalUserService);
  await expect(client.listUsers({ pageSize })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
});
