import { decodeJwt } from "jose";
import { type AuditEvent, createGrpcClient } from "svc-access/runtime";
import { afterAll, beforeAll, expect, test } from "vitest";
import { IAMAuthService } from "../../../gen/svc/iam/v1/auth_pb.ts";
import { Browser } from "../../support/browser.ts";
import {
  AS_HUB,
  asUser,
  type IamService,
  INTERNAL_TOKEN,
  LOGIN_CLIENT,
  startIam,
} from "../../support/iam-service.ts";
import { type LoggedIn, logInAt, withToken } from "../../support/log-in-at.ts";
import { relate } from "../../support/passwords.ts";

const PASSWORD = "correct horse battery staple";

let iam: IamService;
/** Ids by user name. */
const users: Record<string, string> = {};
beforeAll(async () => {
  iam = await startIam();
  await relate(iam, "owner", "root");
  for (const username of ["alice", "bob", "carol", "manager"]) {
    const user = { username, displayName: username, email: `${username}@example.com` };
    const made = { ...user, password: PASSWORD };
    users[username] = (await iam.call("POST", "/v1/users", made, asUser("root"))).body.id;
  }
  await relate(iam, "user_manager", users["manager"] ?? "");
  await relate(iam, "admin", users["bob"] ?? "");
});
afterAll(() => iam.stop());

const MINE = "/v1/iam/me/sessions";
const of = (username: string) => `/v1/users/${users[username]}/sessions`;
const logIn = (username: string) => logInAt(iam, username, PASSWORD);
const asManager = () => asUser(users["manager"] ?? "");
const mine = async (headers: Record<string, string>) =>
  (await iam.call("GET", MINE, undefined, headers)).body.sessions ?? [];

async function refresh({ refreshToken }: LoggedIn): Promise<number> {
  return (await iam.call("POST", "/v1/iam/tokens:refresh", { refreshToken }, AS_HUB)).status;
}

/** The tokens of an ended session are refused where they were ended. */
async function expectEnded(tokens: LoggedIn): Promise<void> {
  const me = async () => (await iam.call("GET", "/v1/iam/me", undefined, withToken(tokens))).status;
  await expect.poll(me, { message: "the ended session is refused", interval: 10 }).toBe(401);
  expect(await refresh(tokens)).toBe(400);
}

test.each([
  ["the own sessions, of nobody", "GET", MINE, {}, 401],
  ["the own sessions, of a service", "GET", MINE, AS_HUB, 403],
  ["the own sessions, of another organization", "GET", MINE, asUser("alice", "other"), 403],
  ["an own session that does not exist", "DELETE", `${MINE}/s-1`, asUser("alice"), 404],
  ["an own session, of nobody", "DELETE", `${MINE}/s-1`, {}, 401],
  ["the other sessions, of nobody", "POST", `${MINE}:endOthers`, {}, 401],
  [
    "the other sessions, of a caller without a token",
    "POST",
    `${MINE}:endOthers`,
    asUser("a"),
    412,
  ],
  ["the other sessions, of a service", "POST", `${MINE}:endOthers`, AS_HUB, 403],
])("%s: %s is refused", async (_, method, path, headers, status) => {
  const body = method === "POST" ? {} : undefined;
  expect((await iam.call(method, path, body, headers)).status).toBe(status);
});

test("of a user they are refused to whoever may not manage users, and of a user who does not exist", async () => {
  for (const [method, end] of [
    ["GET", ""],
    ["DELETE", ""],
    ["DELETE", "/s-1"],
  ] as const) {
    const ask = async (path: string, headers: Record<string, string>) =>
      (await iam.call(method, `${path}${end}`, undefined, headers)).status;
    expect(await ask(of("alice"), {})).toBe(401);
    expect(await ask(of("alice"), asUser(users["alice"] ?? ""))).toBe(403);
    expect(await ask(of("alice"), asUser("root", "other"))).toBe(403);
    expect(await ask("/v1/users/nobody/sessions", asUser("root"))).toBe(404);
  }
});

test("a user sees the own sessions, and which one the call is of [IDP-21]", async () => {
  const browser = new Browser(iam.origin, "203.0.113.24");
  const first = await logIn("alice");
  const second = await logInAt(iam, "alice", PASSWORD, browser);
  const sessions = await mine(withToken(second));
  expect(sessions).toHaveLength(2);
  expect(sessions[0]).toMatchObject({
    kind: "SESSION_KIND_BROWSER",
    clients: [{ clientId: LOGIN_CLIENT, name: "Identity and access" }],
    address: "203.0.113.24",
    userAgent: "node",
    current: true,
  });
  expect(sessions[1].current ?? false).toBe(false);
  const { createTime, lastUseTime, idleExpireTime, absoluteExpireTime } = sessions[0];
  const times = [createTime, lastUseTime, idleExpireTime, absoluteExpireTime].map(Date.parse);
  const [created = 0, used = 0, idle = 0, absolute = 0] = times;
  const day = 86_400_000;
  expect(used).toBeGreaterThanOrEqual(created);
  expect(Math.abs(idle - used - 3 * day)).toBeLessThan(60_000);
  expect(Math.abs(absolute - created - 30 * day)).toBeLessThan(60_000);
  expect((await mine(withToken(first))).map((one: any) => one.current ?? false)).toEqual([
    false,
    true,
  ]);
  // A gateway names the caller, and not the session.
  const others = await mine(asUser(users["alice"] ?? ""));
  expect(others.map((one: any) => one.current ?? false)).toEqual([false, false]);
  expect(await mine(withToken(await logIn("carol")))).toHaveLength(1);
});

test("a user ends one of the own sessions, and never that of somebody else [IDP-21]", async () => {
  const [gone, stays] = [await logIn("alice"), await logIn("alice")];
  const { id } = (await mine(withToken(gone))).find((one: any) => one.current);
  const foreign = await iam.call("DELETE", `${MINE}/${id}`, undefined, asUser(users["bob"] ?? ""));
  expect(foreign.status).toBe(404);
  expect(await refresh(gone)).toBe(200);
  const again = await iam.call("DELETE", `${MINE}/${id}`, undefined, withToken(stays));
  expect(again.status).toBe(200);
  await expectEnded(gone);
  expect((await iam.call("DELETE", `${MINE}/${id}`, undefined, withToken(stays))).status).toBe(404);
  expect(await refresh(stays)).toBe(200);
});

test("a user ends all sessions but that of the call", async () => {
  const [one, two, own] = [await logIn("carol"), await logIn("carol"), await logIn("carol")];
  const { status, body } = await iam.call("POST", `${MINE}:endOthers`, {}, withToken(own));
  expect([status, body.endedCount]).toEqual([200, 3]);
  await expectEnded(one);
  await expectEnded(two);
  expect(await mine(withToken(own))).toMatchObject([{ current: true }]);
  expect(await refresh(own)).toBe(200);
});

test("a manager of users ends sessions of those who may not do more, an owner of all [IDP-21, IAM-9]", async () => {
  const [alice, bob] = [await logIn("alice"), await logIn("bob")];
  const sessions = async (username: string) =>
    (await iam.call("GET", of(username), undefined, asManager())).body.sessions;
  const [{ id }] = await sessions("alice");
  const [{ id: idOfBob }] = await sessions("bob");
  const end = async (path: string, headers: Record<string, string>) =>
    iam.call("DELETE", path, undefined, headers);
  expect((await end(`${of("carol")}/${id}`, asManager())).status).toBe(404);
  expect((await end(`${of("alice")}/${id}`, asManager())).status).toBe(200);
  await expectEnded(alice);
  // Bob is an admin.
  for (const path of [of("bob"), `${of("bob")}/${idOfBob}`]) {
    expect(await end(path, asManager())).toMatchObject({
      status: 403,
      body: { message: "the account holds relations to a zone that the caller does not hold" },
    });
  }
  expect(await refresh(bob)).toBe(200);
  expect(await end(of("bob"), asUser("root"))).toMatchObject({
    status: 200,
    body: { endedCount: 1 },
  });
  await expectEnded(bob);
});

test("the audit names the user, by the call and by the session", async () => {
  await logIn("alice");
  const { server } = iam;
  await iam.call("DELETE", of("alice"), undefined, asUser("root"));
  const log = server.audit;
  if (log === undefined) throw new Error("the server has no audit");
  const events: AuditEvent[] = [];
  for await (const event of log.export({})) events.push(event);
  const about = (type: string) =>
    events.filter((event) => event.type === type).map(({ data }) => data.resource);
  expect(about("iam.user_session.end_all")).toContain(`user:${users["alice"]}`);
  expect(about("session.ended")).toContain(`user:${users["alice"]}`);
});

test("a verified token names its session", async () => {
  const { accessToken } = await logIn("carol");
  const client = createGrpcClient(IAMAuthService, {
    target: iam.grpcTarget,
    internalToken: INTERNAL_TOKEN,
  });
  const { active, sessionId } = await client.verifyToken({ token: accessToken });
  await client.close();
  expect([active, sessionId]).toEqual([true, decodeJwt(accessToken)["sid"]]);
});

test("with another provider, sessions are not implemented, and the message says where they are", async () => {
  const other = await startIam({
    authn: { provider: "oidc" },
    login: { client_secret: "a secret of the client" },
  });
  const { status, body } = await other.call("GET", MINE, undefined, asUser("alice"));
  await other.stop();
  expect(status).toBe(501);
  expect(body.message).toContain("embedded identity provider");
});
