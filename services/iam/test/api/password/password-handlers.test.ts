/** The RPCs of IAMPasswordService. */
import { randomUUID } from "node:crypto";
import { type AuditEvent, createGrpcClient } from "svc-access/runtime";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { IAMPasswordService } from "../../../gen/svc/iam/v1/users_pb.ts";
import { Browser } from "../../support/browser.ts";
import { databaseOf } from "../../support/browser-login.ts";
import { AS_HUB, asUser, type IamService, startIam } from "../../support/iam-service.ts";
import { type LoggedIn, logInAt, withToken } from "../../support/log-in-at.ts";
import {
  canLogIn,
  NEW,
  newBrowser,
  OLD,
  relate,
  resetLinkOf,
  startUsers,
} from "../../support/passwords.ts";

const CHANGE = "/v1/iam/me/password:change";
const LINKS = "password-reset-links";

/** Of the same id as an owner. */
const SERVICE_ACCOUNT = { ...asUser("root"), "x-svc-subject-type": "service_account" };

const body = (currentPassword: unknown, newPassword: unknown) => ({ currentPassword, newPassword });

/** What is wrong with a request, and what the answer says about its fields. */
const REFUSED: readonly [string, object, Readonly<Record<string, string>>][] = [
  ["nothing", {}, { current_password: "is required", new_password: "must have at least 12" }],
  ["no current password", { newPassword: NEW }, { current_password: "is required" }],
  ["no new password", { currentPassword: OLD }, { new_password: "must have at least 12" }],
  ["a short one", body(OLD, "elevenchars"), { new_password: "must have at least 12 characters" }],
  ["a long one", body(OLD, NEW.repeat(20)), { new_password: "must have at most 512 bytes" }],
  ["a common one", body(OLD, "password1234"), { new_password: "is one of the common ones" }],
  ["few characters", body(OLD, "abababababab"), { new_password: "must have at least 5" }],
  ["the user name", body(OLD, "refused7abcd"), { new_password: "must not consist of the user" }],
  ["a control character", body(OLD, `${NEW}\n`), { new_password: "must not contain control" }],
  ["the current one", body(OLD, OLD), { new_password: "must not be the current one" }],
];

let iam: IamService;
let users: Record<string, string>;
beforeAll(async () => {
  iam = await startIam();
  users = await startUsers(iam, [
    ...["alice", "bob", "carol", "dave", "erin", "frank", "manager", "former"],
    // A call is limited by its caller.
    ...REFUSED.map((_, index) => `refused${index}`),
  ]);
  await relate(iam, "user_manager", idOf("manager"));
  await relate(iam, "admin", idOf("bob"));
  await relate(iam, "owner", "guest-owner");
  await relate(iam, "user_manager", idOf("former"));
  const { kysely } = databaseOf(iam);
  await kysely
    .updateTable("iam_users")
    .set({ disabled: 1 })
    .where("id", "=", idOf("former"))
    .execute();
});
afterAll(() => iam.stop());

const idOf = (username: string) => users[username] ?? "";
const as = (username: string) => asUser(idOf(username));
const change = (given: object, headers: Record<string, string>) =>
  iam.call("POST", CHANGE, given, headers);
const link = (username: string, headers: Record<string, string>) =>
  iam.call("POST", `/v1/users/${users[username] ?? username}/${LINKS}`, {}, headers);

async function refresh({ refreshToken }: LoggedIn): Promise<number> {
  return (await iam.call("POST", "/v1/iam/tokens:refresh", { refreshToken }, AS_HUB)).status;
}

async function events(type: string, username: string): Promise<readonly AuditEvent[]> {
  const log = iam.server.audit;
  if (log === undefined) throw new Error("the server has no audit");
  const found: AuditEvent[] = [];
  for await (const event of log.export({})) found.push(event);
  return found.filter(
    (event) => event.type === type && event.data.resource === `user:${idOf(username)}`,
  );
}

test.each<[string, () => Record<string, string>, number]>([
  ["nobody", () => ({}), 401],
  ["a service", () => AS_HUB, 403],
  ["a user of another organization", () => asUser(idOf("alice"), "other"), 403],
  ["a service account", () => ({ ...as("alice"), "x-svc-subject-type": "service_account" }), 403],
  ["a user whose account is not here", () => asUser("guest"), 412],
])("%s cannot change a password", async (_, headers, status) => {
  expect((await change(body(OLD, NEW), headers())).status).toBe(status);
  expect(await canLogIn(iam, "alice", OLD)).toBe(true);
});

test.each(REFUSED.map((row, index) => [...row, `refused${index}`] as const))(
  "with %s, a password is not changed, and nothing is counted",
  async (_, given, problems, username) => {
    const { status, body: answer } = await change(given, as(username));
    expect([status, answer.code]).toEqual([400, "INVALID_ARGUMENT"]);
    expect(Object.keys(answer.details.fields)).toEqual(Object.keys(problems));
    for (const [field, problem] of Object.entries(problems)) {
      expect(answer.details.fields[field]).toContain(problem);
    }
    expect(await events("password.change_failed", username)).toEqual([]);
  },
);

test("a password that is not text is not in the answer", async () => {
  for (const secret of [1234567890123, ["1234567890123"], { is: "1234567890123" }]) {
    const { status, body: answer } = await change(body(OLD, secret), as("alice"));
    expect(status).toBe(400);
    expect(JSON.stringify(answer)).not.toContain("1234567890123");
  }
});

test("a wrong current password counts as a failed login, and is slowed like one [IDP-28]", async () => {
  // A slowed login waits for a second at first, which would pass on a slow machine.
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
  onTestFinished(() => void vi.useRealTimers());
  const wrong = body("the password of somebody else", NEW);
  for (let count = 0; count < 5; count++) {
    const { status, body: answer } = await change(wrong, as("erin"));
    expect(status).toBe(400);
    expect(answer).toMatchObject({
      code: "INVALID_ARGUMENT",
      message: "current_password is wrong",
      details: { fields: { current_password: "is wrong" } },
    });
  }
  // Also the right one, and a login from the same address.
  const slowed = await change(body(OLD, NEW), as("erin"));
  expect([slowed.status, slowed.body.code]).toEqual([429, "RATE_LIMITED"]);
  await expect(logInAt(iam, "erin", OLD, new Browser(iam.origin))).rejects.toThrow("429");
  // They are of one moment, so their order is not known.
  const reasons = (await events("password.change_failed", "erin")).map(
    ({ data }) => data.details?.["reason"],
  );
  expect(reasons.sort()).toEqual(["slowed", ...Array(5).fill("wrong")]);
});

test("a user changes the own password: other sessions end, that of the call continues [IDP-28]", async () => {
  const [own, other] = [await logInAt(iam, "carol", OLD), await logInAt(iam, "carol", OLD)];
  const { token } = await resetLinkOf(iam, idOf("carol"));
  const { status, body: answer } = await change(body(OLD, NEW), withToken(own));
  expect([status, answer]).toEqual([200, { endedSessionCount: 1 }]);
  // The revocation reaches the feed of this process.
  const me = async (tokens: LoggedIn) =>
    (await iam.call("GET", "/v1/iam/me", undefined, withToken(tokens))).status;
  await expect
    .poll(() => me(other), { message: "the other session is refused", interval: 10 })
    .toBe(401);
  expect(await refresh(other)).toBe(400);
  expect(await me(own)).toBe(200);
  expect(await refresh(own)).toBe(200);
  expect(await canLogIn(iam, "carol", OLD)).toBe(false);
  expect(await canLogIn(iam, "carol", NEW)).toBe(true);
  // So does a link that an administrator has made.
  const page = await fetch(`${iam.origin}/v1/iam/ui/password-reset?token=${token}`);
  expect(page.status).toBe(404);
  const [event] = await events("password.changed", "carol");
  expect(event?.data).toMatchObject({ risk_level: "MEDIUM", details: { sessions: 1 } });
});

test("without a token the session of the call is not known, and all end", async () => {
  const tokens = await logInAt(iam, "frank", OLD);
  const { status, body: answer } = await change(body(OLD, NEW), as("frank"));
  expect([status, answer]).toEqual([200, { endedSessionCount: 1 }]);
  expect(await refresh(tokens)).toBe(400);
});

test("of two changes at once one counts, and a login with its password works", async () => {
  const passwords = [NEW, "seven yellow pelicans dance"];
  const tried = await Promise.all(passwords.map((next) => change(body(OLD, next), as("dave"))));
  const codes = tried.map(({ status }) => status);
  expect(codes.filter((status) => status === 200)).toHaveLength(1);
  // The other one has found the old password, or not any more.
  expect(codes.filter((status) => status === 412 || status === 400)).toHaveLength(1);
  const chosen = passwords[codes.indexOf(200)] ?? "";
  const refused = passwords[1 - codes.indexOf(200)] ?? "";
  expect(await canLogIn(iam, "dave", chosen)).toBe(true);
  expect(await canLogIn(iam, "dave", refused)).toBe(false);
});

test.each<[string, string, () => Record<string, string>, number]>([
  ["nobody", "alice", () => ({}), 401],
  ["a service", "alice", () => AS_HUB, 403],
  ["a user without manage_users, for the own account", "alice", () => as("alice"), 403],
  ["a user manager, for an admin", "bob", () => as("manager"), 403],
  ["a service account with the id of an owner", "alice", () => SERVICE_ACCOUNT, 403],
  ["an owner whose account is not here", "alice", () => asUser("guest-owner"), 403],
  ["a user manager who is disabled", "alice", () => as("former"), 401],
  ["the owner of another organization", "alice", () => asUser("root", "other"), 403],
  ["an owner, for a user who does not exist", "nobody", () => asUser("root"), 404],
])("%s gets no link to reset a password", async (_, username, headers, status) => {
  const answer = await link(username, headers());
  expect(answer.status).toBe(status);
  expect(JSON.stringify(answer.body)).not.toContain("token=");
});

test("who manages users gets a link for those who may not do more, an owner for all [IDP-29, IAM-9]", async () => {
  const before = Date.now();
  const { status, body: answer } = await link("alice", as("manager"));
  expect(status).toBe(200);
  expect(answer.url).toMatch(
    new RegExp(`^${iam.origin}/v1/iam/ui/password-reset\\?token=[\\w-]{43}$`),
  );
  const life = Date.parse(answer.expireTime) - before;
  expect(life).toBeGreaterThanOrEqual(3_600_000);
  expect(life).toBeLessThan(3_660_000);
  expect((await link("bob", asUser("root"))).status).toBe(200);
  const [event] = await events("password.reset_link_made", "alice");
  expect(event?.data).toMatchObject({
    risk_level: "CRITICAL",
    details: { expires: answer.expireTime },
  });
  expect(await events("iam.password_reset_link.create", "alice")).not.toEqual([]);
});

test("nobody gets a link for the own account: a token that was stolen would be enough [IDP-29]", async () => {
  const { status, body: answer } = await link("bob", as("bob"));
  expect([status, answer.message]).toEqual([
    403,
    "this is for the accounts of others; for your own, POST /v1/iam/me/password:change, which takes the current password",
  ]);
});

test("a link is not stored: a call that is repeated with its key makes no other, and says so [IDP-29]", async () => {
  const headers = { ...asUser("root"), "Idempotency-Key": randomUUID() };
  const first = await link("bob", headers);
  expect(first.status).toBe(200);
  const repeated = await link("bob", headers);
  expect([repeated.status, repeated.body.code]).toEqual([412, "FAILED_PRECONDITION"]);
  expect((await newBrowser(iam).open(first.body.url)).status).toBe(200);
});

test("over gRPC the same", async () => {
  const client = createGrpcClient(IAMPasswordService, { target: iam.grpcTarget });
  await expect(client.changeMyPassword({})).rejects.toMatchObject({ code: "UNAUTHORIZED" });
  await client.close();
});

test("with another provider passwords are not implemented, and there is no page [IDP-28]", async () => {
  const other = await startIam({
    authn: { provider: "oidc" },
    login: { client_secret: "a secret of the client" },
  });
  const changed = await other.call("POST", CHANGE, body(OLD, NEW), asUser("alice"));
  const reset = await other.call("POST", `/v1/users/alice/${LINKS}`, {}, asUser("root"));
  const page = await fetch(`${other.origin}/v1/iam/ui/password-reset?token=${"A".repeat(43)}`);
  await other.stop();
  expect([changed.status, page.status]).toEqual([501, 404]);
  expect(changed.body.message).toContain("embedded identity provider");
  // Nobody may ask: there is no owner.
  expect(reset.status).toBe(403);
});
