/** Users who are read, changed, disabled, enabled and deleted, in a whole svc-iam. */
import { randomUUID } from "node:crypto";
import { sql } from "svc-access/database";
import type { AuditEvent } from "svc-access/runtime";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { usernameKey } from "../../../src/people/accounts/account-texts.ts";
import { LocalAccounts } from "../../../src/people/accounts/local-accounts.ts";
import { removalsIn } from "../../ground/removals/pending-removals.ts";
import { databaseOf } from "../../support/browser-login.ts";
import { AS_HUB, asUser, type IamService, startIam } from "../../support/iam-service.ts";
import { logInAt, withToken } from "../../support/log-in-at.ts";
import {
  canLogIn,
  newBrowser,
  OLD,
  relate,
  resetLinkOf,
  startUsers,
} from "../../support/passwords.ts";

let iam: IamService;
let users: Record<string, string>;
beforeAll(async () => {
  iam = await startIam();
  users = await startUsers(iam, [
    "alice",
    "bob",
    "carol",
    "dora",
    "emil",
    "fay",
    "gus",
    "hal",
    "ida",
    "admin",
    "viewer",
    "barred",
  ]);
  await relate(iam, "user_manager", idOf("barred"));
  await relate(iam, "admin", idOf("admin"));
  await relate(iam, "user_viewer", idOf("viewer"));
});
afterAll(() => iam.stop());

const idOf = (name: string) => users[name] ?? expect.fail(name);
/** The headers of a caller; each time of another manager or owner, since callers are limited. */
async function as(name: string): Promise<Record<string, string>> {
  if (name !== "manager" && name !== "root") return asUser(idOf(name));
  const id = randomUUID();
  const account = { username: id, displayName: name, email: "m@example.com", passwordHash: "none" };
  await new LocalAccounts(databaseOf(iam).kysely, "acme").create(account, id);
  await relate(iam, name === "root" ? "owner" : "user_manager", id);
  return asUser(id);
}
const pathOf = (name: string) => `/v1/users/${idOf(name)}`;
const get = async (name: string, caller = "manager") =>
  iam.call("GET", pathOf(name), undefined, await as(caller));
const patch = async (name: string, body: object, caller = "manager") =>
  iam.call("PATCH", pathOf(name), body, await as(caller));
const post = async (name: string, verb: string, caller = "manager") =>
  iam.call("POST", `${pathOf(name)}:${verb}`, {}, await as(caller));
const remove = async (name: string, caller = "manager") =>
  iam.call("DELETE", pathOf(name), undefined, await as(caller));

/** All that changes a user, with who may do it to whom. */
const CHANGES = [
  ["a change of the name", "PATCH", "", { displayName: "New" }],
  ["a change of the e-mail address", "PATCH", "", { email: "new@example.com" }],
  ["disabling", "POST", ":disable", {}],
  ["enabling", "POST", ":enable", {}],
  ["deletion", "DELETE", "", undefined],
] as const;

test.each(CHANGES)(
  "%s is refused to whoever may not manage users [IAM-9]",
  async (_, method, end, body) => {
    const call = async (headers: Record<string, string>, path = pathOf("alice")) =>
      (await iam.call(method, `${path}${end}`, body, headers)).status;
    expect(await call({})).toBe(401);
    expect(await call(AS_HUB)).toBe(403);
    expect(await call(await as("viewer"))).toBe(403);
    expect(await call(await as("alice"))).toBe(403);
    expect(await call(asUser("root", "other"))).toBe(403);
    expect(await call(await as("manager"), "/v1/users/0b0c1f0e-5a53-4f6e-9d0e-6f1d5a3b8c11")).toBe(
      404,
    );
    expect(await call(await as("manager"), "/v1/users/%00")).toBe(400);
    expect((await get("alice")).body).toMatchObject({ displayName: "alice" });
  },
);

test.each(CHANGES.slice(1))(
  "%s of who may do more than the caller is refused [IAM-16]",
  async (_, method, end, body) => {
    const call = async (caller: string) =>
      (await iam.call(method, `${pathOf("admin")}${end}`, body, await as(caller))).status;
    const before = (await get("admin")).body;
    expect(await call("manager")).toBe(403);
    expect((await get("admin")).body).toEqual(before);
  },
);

test("a user is read with an etag by whoever may view users, and without secrets", async () => {
  const { status, body } = await get("alice", "viewer");
  expect(status).toBe(200);
  expect(body).toMatchObject({ id: idOf("alice"), username: "alice", email: "alice@example.com" });
  expect(body.etag).toMatch(/^[0-9a-f-]{36}$/);
  expect(JSON.stringify(body)).not.toContain("argon2");
  expect((await get("alice", "bob")).status).toBe(403);
});

test.each([
  ["a user name that is not one", { username: "no spaces" }, "username"],
  ["an empty display name", { displayName: " " }, "display_name"],
  ["a display name with controls", { displayName: "a\u202eb" }, "display_name"],
  ["an e-mail address that is not one", { email: "nowhere" }, "email"],
  ["a picture that is not at an https URL", { avatarUrl: "javascript:alert(1)" }, "avatar_url"],
])("%s is refused", async (_, body, field) => {
  const answer = await patch("alice", body);
  expect(answer).toMatchObject({ status: 400, body: { code: "INVALID_ARGUMENT" } });
  expect(Object.keys(answer.body.details.fields)).toEqual([field]);
});

test.each(["password", "disabled", "id", "organization_id", "*", ""])(
  "the field %j of a mask is refused",
  async (path) => {
    const query = `?update_mask=${encodeURIComponent(path)}`;
    const answer = await iam.call("PATCH", `${pathOf("alice")}${query}`, {}, await as("manager"));
    if (path === "") return expect(answer.status).toBe(200);
    expect(answer.status).toBe(400);
  },
);

test("the fields of a change are stored, and others stay", async () => {
  const before = (await get("bob")).body;
  const change = { displayName: "Bob Miller", email: "bob@example.org", username: "Bobby" };
  const more = await patch("bob", { ...change, id: "other", disabled: true });
  expect([more.status, more.body.message]).toEqual([
    400,
    expect.stringMatching(/^id cannot be changed here: .*; disabled cannot be changed here: /),
  ]);
  // As it was read, it may be sent back.
  const { status, body } = await patch("bob", { ...before, ...change });
  expect(status).toBe(200);
  expect(body).toMatchObject({ ...change, id: idOf("bob"), createTime: before.createTime });
  expect(body.disabled ?? false).toBe(false);
  expect(body.etag).not.toBe(before.etag);
  expect(await canLogIn(iam, "bobby", OLD)).toBe(true);
  expect(await canLogIn(iam, "bob", OLD)).toBe(false);
});

test("a user name that is taken is refused, in whatever letters", async () => {
  expect(await patch("carol", { username: "ALICE" })).toMatchObject({
    status: 409,
    body: { code: "ALREADY_EXISTS", message: "the user name is taken" },
  });
  expect((await patch("carol", { username: "CAROL" })).status).toBe(200);
});

test("a user with an e-mail address that new users cannot have keeps it, and gets no other such", async () => {
  const email = `${"a".repeat(65)}@example.com`;
  const { kysely } = databaseOf(iam);
  await kysely.updateTable("iam_users").set({ email }).where("id", "=", idOf("ida")).execute();
  const kept = await patch("ida", { displayName: "Ida", email });
  expect(kept).toMatchObject({ status: 200, body: { displayName: "Ida", email } });
  const answer = await patch("ida", { email: `b${email}` });
  expect(answer).toMatchObject({
    status: 400,
    body: { details: { fields: { email: "must have at most 64 bytes before the @" } } },
  });
});

test("a user with a name that new users cannot have keeps it, logs in by it, and may be renamed", async () => {
  const name = "ida\u3164";
  await databaseOf(iam)
    .kysely.updateTable("iam_users")
    .set({ username: name, username_key: usernameKey(name) })
    .where("id", "=", idOf("ida"))
    .execute();
  expect(await canLogIn(iam, name, OLD)).toBe(true);
  expect((await patch("ida", { username: name, displayName: "Ida" })).status).toBe(200);
  const refused = await patch("gus", { username: "gus\u3164" });
  expect(refused.status).toBe(400);
  expect(JSON.stringify(refused)).toContain("must not contain invisible characters");
  expect((await patch("ida", { username: "ida" })).status).toBe(200);
});

test("a change of what was read before another change is refused", async () => {
  const { etag } = (await get("carol")).body;
  expect((await patch("carol", { displayName: "First", etag })).status).toBe(200);
  expect(await patch("carol", { displayName: "Second", etag })).toMatchObject({
    status: 412,
    body: { code: "FAILED_PRECONDITION" },
  });
  expect((await get("carol")).body.displayName).toBe("First");
});

test("a user who is disabled is logged out everywhere, and cannot log in until enabled again [IAM-16]", async () => {
  const tokens = await logInAt(iam, "dora", OLD);
  const link = await resetLinkOf(iam, idOf("dora"));
  const me = async () => (await iam.call("GET", "/v1/iam/me", undefined, withToken(tokens))).status;
  expect(await me()).toBe(200);
  expect(await post("dora", "disable")).toMatchObject({ status: 200, body: { disabled: true } });
  await expect
    .poll(me, { message: "the session of the disabled user is refused", interval: 10 })
    .toBe(401);
  const { refreshToken } = tokens;
  expect((await iam.call("POST", "/v1/iam/tokens:refresh", { refreshToken }, AS_HUB)).status).toBe(
    400,
  );
  expect(await canLogIn(iam, "dora", OLD)).toBe(false);
  expect((await newBrowser(iam).open(link.url)).status).toBe(404);
  expect(await post("dora", "disable")).toMatchObject({ status: 200, body: { disabled: true } });
  expect((await post("dora", "enable")).body.disabled ?? false).toBe(false);
  expect(await canLogIn(iam, "dora", OLD)).toBe(true);
  expect(await me()).toBe(401);
  expect((await newBrowser(iam).open(link.url)).status).toBe(404);
});

test("a login that began before the user was disabled is not completed, also after enabling", async () => {
  const browser = newBrowser(iam);
  let isInterrupted = false;
  const request = browser.request.bind(browser);
  browser.request = async (url, init) => {
    const response = await request(url, init);
    // The password was right, and the browser is on its way back to the provider.
    if (init?.method === "POST" && !isInterrupted) {
      isInterrupted = true;
      expect((await post("emil", "disable")).status).toBe(200);
      expect((await post("emil", "enable")).status).toBe(200);
    }
    return response;
  };
  await expect(logInAt(iam, "emil", OLD, browser)).rejects.toThrow("the login failed");
  expect(isInterrupted).toBe(true);
  expect(await canLogIn(iam, "emil", OLD)).toBe(true);
});

test("a user who is deleted is gone at once, and the user name is free", async () => {
  const tokens = await logInAt(iam, "fay", OLD);
  const link = await resetLinkOf(iam, idOf("fay"));
  expect((await remove("fay")).status).toBe(200);
  const me = async () => (await iam.call("GET", "/v1/iam/me", undefined, withToken(tokens))).status;
  await expect
    .poll(me, { message: "the session of the deleted user is refused", interval: 10 })
    .toBe(401);
  expect((await get("fay")).status).toBe(404);
  expect((await remove("fay")).status).toBe(404);
  expect((await post("fay", "enable", "root")).status).toBe(404);
  expect(await canLogIn(iam, "fay", OLD)).toBe(false);
  expect((await newBrowser(iam).open(link.url)).status).toBe(404);
  const { body } = await iam.call("GET", "/v1/users?page_size=1000", undefined, await as("viewer"));
  expect(body.users.map(({ id }: { id: string }) => id)).not.toContain(idOf("fay"));
  const user = { username: "FAY", displayName: "Another", email: "fay@example.com", password: OLD };
  const made = await iam.call("POST", "/v1/users", user, await as("root"));
  expect(made.status).toBe(200);
  expect(made.body.id).not.toBe(idOf("fay"));
  expect(await me()).toBe(401);
});

test("of a deleted user, the relationships and then the records go [IAM-13]", async () => {
  await relate(iam, "user_viewer", idOf("gus"));
  expect((await remove("gus", "manager")).status).toBe(403);
  expect((await remove("gus", "root")).status).toBe(200);
  const { kysely } = databaseOf(iam);
  const run = () =>
    iam.options.jobs?.find(({ name }) => name === "removals")?.run(new AbortController().signal);
  await run();
  const subject = { type: "user", id: idOf("gus") };
  const left = await iam.options.engine?.readRelationships({ subject });
  expect(left?.items).toEqual([]);
  const rows = () =>
    kysely.selectFrom("iam_users").select("id").where("id", "=", idOf("gus")).execute();
  expect(await rows()).toHaveLength(1);
  await removalsIn(databaseOf(iam)).updateTable("pending_removals").set({ due_time: 0 }).execute();
  const me = async () =>
    (await iam.call("GET", "/v1/iam/me", undefined, asUser(idOf("gus")))).status;
  expect(await me()).toBe(401);
  await run();
  expect(await rows()).toEqual([]);
  expect(await me()).toBe(401);
});

test("a caller who is disabled changes nobody, whatever the gateway says [IAM-16]", async () => {
  expect((await post("barred", "disable", "root")).status).toBe(200);
  for (const [, method, end, body] of CHANGES) {
    const answer = await iam.call(method, `${pathOf("hal")}${end}`, body, await as("barred"));
    expect(answer).toMatchObject({ status: 401, body: { code: "UNAUTHORIZED" } });
  }
  expect((await get("hal")).body).toMatchObject({ displayName: "hal", email: "hal@example.com" });
});

test("the last enabled user who owns the zone is neither disabled nor deleted, nor are two at once [IAM-10]", async () => {
  const own = await startIam();
  onTestFinished(() => own.stop());
  const { ann = "", ben = "", cal = "" } = await startUsers(own, ["ann", "ben", "cal"]);
  await relate(own, "owner", "root", "DELETE");
  await relate(own, "owner", ann);
  const end = async (id: string, by: string, verb: "disable" | "delete") => {
    const [method, path, body] =
      verb === "delete" ? ["DELETE", "", undefined] : ["POST", ":disable", {}];
    return (await own.call(`${method}`, `/v1/users/${id}${path}`, body, asUser(by))).status;
  };
  expect(await end(ann, ann, "disable")).toBe(412);
  expect(await end(ann, ann, "delete")).toBe(412);
  await relate(own, "owner", ben);
  expect(await end(ben, ann, "disable")).toBe(200);
  // An owner who is disabled does not count.
  expect(await end(ann, ann, "disable")).toBe(412);
  expect((await own.call("POST", `/v1/users/${ben}:enable`, {}, asUser(ann))).status).toBe(200);
  await relate(own, "owner", cal);
  expect(await end(cal, ann, "delete")).toBe(200);
  const both = await Promise.all([end(ann, ann, "disable"), end(ben, ben, "delete")]);
  expect(both.toSorted()).toEqual([200, 412]);
});

test("each change is an audit event that names the user", async () => {
  await patch("ida", { email: "ida@example.org" });
  await post("ida", "disable");
  await post("ida", "enable");
  await remove("ida");
  const events: AuditEvent[] = [];
  for await (const event of iam.server.audit?.export({}) ?? []) events.push(event);
  const found = events
    .filter(({ subject, data }) => `${subject}${JSON.stringify(data)}`.includes(idOf("ida")))
    .map(({ type }) => type);
  for (const type of ["update", "disable", "enable", "delete"]) {
    expect(found).toContain(`iam.user.${type}`);
  }
  expect(events.find(({ type }) => type === "user.changed")?.data).toMatchObject({
    details: { fields: expect.any(String) },
  });
  expect(JSON.stringify(events)).not.toContain("ida@example.org");
});

test("a user is created once, however often the call with its key is repeated [CHAIN-5]", async () => {
  const key = randomUUID();
  const user = { username: "once", displayName: "Once", email: "once@example.com", password: OLD };
  const caller = await as("root");
  const create = (body: object, headers = caller) =>
    iam.call("POST", "/v1/users", body, { ...headers, "Idempotency-Key": key });
  const [first, ...others] = await Promise.all([create(user), create(user), create(user)]);
  const made = [first, ...others].find(({ status }) => status === 200)?.body;
  for (const { status } of [first, ...others]) expect([200, 409]).toContain(status);
  expect(await create(user)).toMatchObject({ status: 200, body: { id: made.id } });
  expect(await create({ ...user, email: "other@example.com" })).toMatchObject({
    status: 400,
    body: { code: "INVALID_ARGUMENT" },
  });
  // To another caller it is another key.
  expect((await create(user, await as("root"))).status).toBe(409);
  const { body } = await iam.call("GET", "/v1/users?page_size=1000", undefined, await as("viewer"));
  const names = body.users.map(({ username }: { username: string }) => username);
  expect(names.filter((name: string) => name === "once")).toHaveLength(1);
  const { rows } = await sql`select * from idempotency_keys`.execute(databaseOf(iam).kysely);
  expect(rows.length).toBeGreaterThan(0);
  for (const secret of [key, OLD, "argon2"]) expect(JSON.stringify(rows)).not.toContain(secret);
});

test("a creation that was cut off is completed by the next call with its key", async () => {
  const key = randomUUID();
  const user = { username: "cut", displayName: "Cut", email: "cut@example.com", password: OLD };
  const headers = { ...(await as("root")), "Idempotency-Key": key };
  const { body } = await iam.call("POST", "/v1/users", user, headers);
  // As if the process had ended before it stored the response.
  const { kysely } = databaseOf(iam);
  await sql`update idempotency_keys set run = 'cut', response = null
    where creation_id = ${body.id}`.execute(kysely);
  expect(await iam.call("POST", "/v1/users", user, headers)).toMatchObject({
    status: 200,
    body: { id: body.id },
  });
});
