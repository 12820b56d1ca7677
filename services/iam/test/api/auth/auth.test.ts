import { createHash, randomBytes } from "node:crypto";
import { decodeJwt } from "jose";
import { type AuditEvent, createGrpcClient } from "svc-access/runtime";
import { afterAll, beforeAll, expect, test } from "vitest";
import { IAMAuthService, TokenKind } from "../../../gen/svc/iam/v1/auth_pb.ts";
import { Browser, nextAddress } from "../../support/browser.ts";
import {
  AS_HUB,
  asUser,
  type IamService,
  INTERNAL_TOKEN,
  LOGIN_CLIENT,
  REDIRECT_URI,
  startIam,
} from "../../support/iam-service.ts";
import { relate } from "../../support/passwords.ts";

const PASSWORD = "correct horse battery staple";

let iam: IamService;
beforeAll(async () => {
  iam = await startIam();
  await relate(iam, "owner", "root");
  const { status } = await iam.call(
    "POST",
    "/v1/users",
    { username: "alice", displayName: "Alice", email: "alice@example.com", password: PASSWORD },
    asUser("root"),
  );
  expect(status).toBe(200);
});
afterAll(() => iam.stop());

/** What a caller keeps of a login. */
interface Begun {
  readonly loginUrl: string;
  readonly verifier: string;
}

async function begin(more: Readonly<Record<string, string>> = {}): Promise<Begun> {
  const verifier = randomBytes(32).toString("base64url");
  const challenge = createHash("sha256").update(verifier).digest("base64url");
  const query = new URLSearchParams({
    redirect_uri: REDIRECT_URI,
    state: "a state",
    code_challenge: challenge,
    ...more,
  });
  const { status, body } = await iam.call("GET", `/v1/iam/login-url?${query}`);
  expect(status).toBe(200);
  expect(new URL(body.loginUrl).searchParams.get("state")).toBe(body.state);
  return { loginUrl: body.loginUrl, verifier };
}

/** Logs alice in, up to the code. */
async function codeOf({ loginUrl }: Begun): Promise<string> {
  const browser = new Browser(iam.origin);
  const page = await browser.open(loginUrl);
  const fields = { action: "login", username: "alice", password: PASSWORD };
  const back = await browser.submit(page, fields);
  expect(back.url, back.text).toMatch(`${REDIRECT_URI}?code=`);
  return new URL(back.url).searchParams.get("code") ?? "";
}

async function logIn() {
  const begun = await begin();
  const { status, body } = await iam.call(
    "POST",
    "/v1/iam/tokens:exchange",
    { code: await codeOf(begun), redirectUri: REDIRECT_URI, codeVerifier: begun.verifier },
    AS_HUB,
  );
  expect(status, JSON.stringify(body)).toBe(200);
  return body.tokens;
}

test("a person logs in by the login URL, and the token identifies the person [IAM-39, IAM-40]", async () => {
  const tokens = await logIn();
  expect(tokens).toMatchObject({ tokenType: "Bearer", scopes: ["openid", "profile", "email"] });
  const { sub, aud, owner } = decodeJwt(tokens.accessToken);
  expect({ aud, owner }).toEqual({ aud: LOGIN_CLIENT, owner: "acme" });
  const bearer = { Authorization: `Bearer ${tokens.accessToken}` };
  const { status, body } = await iam.call("GET", "/v1/iam/me", undefined, bearer);
  expect(status).toBe(200);
  expect(body).toMatchObject({
    subjectId: sub,
    username: "alice",
    name: "Alice",
    email: "alice@example.com",
    organizationId: "acme",
    source: "jwt",
  });
});

test("a token is verified, until it is revoked [IAM-42]", async () => {
  const hub = createGrpcClient(IAMAuthService, {
    target: iam.grpcTarget,
    internalToken: INTERNAL_TOKEN,
  });
  try {
    const { accessToken } = await logIn();
    const verified = await hub.verifyToken({ token: accessToken });
    expect(verified).toMatchObject({
      active: true,
      reason: "",
      issuer: `${iam.origin}/v1/iam/oidc`,
      audiences: [LOGIN_CLIENT],
      tokenId: decodeJwt(accessToken).jti,
      principal: { username: "alice", organizationId: "acme", source: "jwt" },
    });
    await hub.revokeToken({ token: accessToken, kind: TokenKind.ACCESS });
    expect(await hub.verifyToken({ token: accessToken })).toMatchObject({
      active: false,
      reason: "revoked",
      tokenId: "",
    });
    expect(await hub.verifyToken({ token: "no token" })).toMatchObject({
      active: false,
      reason: "invalid",
    });
  } finally {
    await hub.close();
  }
});

test("a refresh token refreshes, until it is revoked [IAM-42]", async () => {
  const { refreshToken } = await logIn();
  const refresh = (token: string, scopes: readonly string[] = []) =>
    iam.call("POST", "/v1/iam/tokens:refresh", { refreshToken: token, scopes }, AS_HUB);
  const fresh = await refresh(refreshToken);
  expect(fresh.status).toBe(200);
  const fewer = await refresh(fresh.body.tokens.refreshToken, ["openid"]);
  expect(fewer.body.tokens.scopes).toEqual(["openid"]);
  const last = fewer.body.tokens.refreshToken;
  const revoked = await iam.call("POST", "/v1/iam/tokens:revoke", { token: last }, AS_HUB);
  expect(revoked.status).toBe(200);
  expect(await refresh(last)).toMatchObject({ status: 400, body: { code: "INVALID_ARGUMENT" } });
});

test.each<[string, string, Readonly<Record<string, string>>, string]>([
  [
    "30: a suffix of the host",
    "redirect_uri",
    { redirect_uri: "https://console.example.com.evil.example/callback" },
    "not a registered one",
  ],
  [
    "30: another path",
    "redirect_uri",
    { redirect_uri: `${REDIRECT_URI}/` },
    "not a registered one",
  ],
  [
    "30: a user",
    "redirect_uri",
    { redirect_uri: "https://console.example.com@evil.example/callback" },
    "not a registered one",
  ],
  [
    "30: a query after the right one",
    "redirect_uri",
    { redirect_uri: `${REDIRECT_URI}?x=1` },
    "not a registered one",
  ],
  ["30: no redirect URI", "redirect_uri", { redirect_uri: "" }, "is required"],
  ["31: a state with a line break", "state", { state: "a\r\nSet-Cookie: a=b" }, "printable ASCII"],
  ["31: a state that is not ASCII", "state", { state: "zustand-ü" }, "printable ASCII"],
  ["31: a long state", "state", { state: "x".repeat(1025) }, "at most 1024"],
  ["32: a nonce that is not ASCII", "nonce", { nonce: "é" }, "printable ASCII"],
  ["33: a plain challenge", "code_challenge", { code_challenge: "plain" }, "SHA-256 of a PKCE"],
  [
    "33: a padded challenge",
    "code_challenge",
    { code_challenge: `${"x".repeat(43)}=` },
    "leave it out",
  ],
])("a login URL with %s is refused", async (_, field, more, message) => {
  const query = new URLSearchParams({
    redirect_uri: REDIRECT_URI,
    state: "s",
    code_challenge: "x".repeat(43),
    ...more,
  });
  const { status, body } = await iam.call("GET", `/v1/iam/login-url?${query}`);
  expect(status).toBe(400);
  expect(body.code).toBe("INVALID_ARGUMENT");
  expect(body.message).toContain(field);
  expect(body.message).toContain(message);
});

test("a person logs in by a login URL of a redirect URI and a state alone [IAM-39]", async () => {
  const query = new URLSearchParams({ redirect_uri: REDIRECT_URI, state: "a state" });
  // Calls without a caller are limited by address.
  const headers = { "x-forwarded-for": nextAddress() };
  const response = await fetch(`${iam.origin}/v1/iam/login-url?${query}`, { headers });
  expect(response.status).toBe(200);
  expect(response.headers.get("cache-control")).toBe("no-store");
  const { loginUrl, state, codeVerifier } = (await response.json()) as Record<string, string>;
  expect(state).toBe("a state");
  expect(codeVerifier).toMatch(/^[A-Za-z0-9_-]{43}$/);
  expect(loginUrl).not.toContain(codeVerifier);
  const exchange = async (verifier: string | undefined) => {
    const code = await codeOf({ loginUrl: loginUrl ?? "", verifier: "" });
    const sent = { code, redirectUri: REDIRECT_URI, codeVerifier: verifier };
    return iam.call("POST", "/v1/iam/tokens:exchange", sent, AS_HUB);
  };
  for (const other of [undefined, "v".repeat(43)]) {
    expect((await exchange(other)).status).toBe(400);
  }
  const { status, body } = await exchange(codeVerifier);
  expect(status, JSON.stringify(body)).toBe(200);
  const bearer = { Authorization: `Bearer ${body.tokens.accessToken}` };
  const me = await iam.call("GET", "/v1/iam/me", undefined, bearer);
  expect(me.body).toMatchObject({ username: "alice" });
});

test("each login URL without a challenge has a verifier of its own; one with a challenge has none", async () => {
  const verifierOf = async (more: Readonly<Record<string, string>>) => {
    const query = new URLSearchParams({ redirect_uri: REDIRECT_URI, ...more });
    const headers = { "x-forwarded-for": nextAddress() };
    const path = `/v1/iam/login-url?${query}`;
    return (await iam.call("GET", path, undefined, headers)).body.codeVerifier ?? "";
  };
  expect(await verifierOf({})).not.toBe(await verifierOf({}));
  expect(await verifierOf({ code_challenge: "x".repeat(43) })).toBe("");
});

test("a login URL without a state has one that nobody can guess [IAM-39]", async () => {
  const query = new URLSearchParams({ redirect_uri: REDIRECT_URI, code_challenge: "x".repeat(43) });
  const answers = await Promise.all(
    [1, 2].map(() => iam.call("GET", `/v1/iam/login-url?${query}`)),
  );
  const states = answers.map(({ body }) => body.state);
  expect(states[0]).toMatch(/^[A-Za-z0-9_-]{43}$/);
  expect(states[0]).not.toBe(states[1]);
});

test.each([
  ["/v1/iam/tokens:exchange", { code: "c", redirectUri: REDIRECT_URI }],
  ["/v1/iam/tokens:refresh", { refreshToken: "r" }],
  ["/v1/iam/tokens:revoke", { token: "t" }],
])("only a service calls %s", async (path, body) => {
  const { accessToken } = await logIn();
  for (const headers of [{}, asUser("root"), { Authorization: `Bearer ${accessToken}` }]) {
    expect((await iam.call("POST", path, body, headers)).status).toBeGreaterThanOrEqual(401);
    expect((await iam.call("POST", path, body, headers)).status).toBeLessThan(404);
  }
});

test.each<[string, string, object]>([
  [
    "an unknown code",
    "/v1/iam/tokens:exchange",
    { code: "c", redirectUri: REDIRECT_URI, codeVerifier: "v".repeat(43) },
  ],
  ["no code", "/v1/iam/tokens:exchange", { redirectUri: REDIRECT_URI }],
  [
    "a redirect URI of nobody",
    "/v1/iam/tokens:exchange",
    { code: "c", redirectUri: "https://evil.example/" },
  ],
  ["an unknown refresh token", "/v1/iam/tokens:refresh", { refreshToken: "r" }],
  ["a huge refresh token", "/v1/iam/tokens:refresh", { refreshToken: "r".repeat(20_000) }],
  ["a scope with a space", "/v1/iam/tokens:refresh", { refreshToken: "r", scopes: ["a b"] }],
  ["an unknown kind", "/v1/iam/tokens:revoke", { token: "t", kind: 9 }],
  ["no token", "/v1/iam/tokens:revoke", {}],
])("%s is an invalid argument", async (_, path, body) => {
  expect(await iam.call("POST", path, body, AS_HUB)).toMatchObject({
    status: 400,
    body: { code: "INVALID_ARGUMENT" },
  });
});

test("a code is exchanged once, and with its own verifier [IAM-42]", async () => {
  const begun = await begin();
  const code = await codeOf(begun);
  const exchange = (codeVerifier: string) =>
    iam.call(
      "POST",
      "/v1/iam/tokens:exchange",
      { code, redirectUri: REDIRECT_URI, codeVerifier },
      AS_HUB,
    );
  expect((await exchange("v".repeat(43))).status).toBe(400);
  expect((await exchange(begun.verifier)).status).toBe(200);
  expect((await exchange(begun.verifier)).status).toBe(400);
});

test("the calls are in the audit log, without the tokens", async () => {
  const { accessToken, refreshToken } = await logIn();
  const events: AuditEvent[] = [];
  for await (const event of iam.server.audit?.export({}) ?? []) events.push(event);
  const types = events.map(({ type }) => type);
  expect(types).toContain("iam.token.exchange");
  expect(types).toContain("login.succeeded");
  const text = JSON.stringify(events);
  for (const secret of [accessToken, refreshToken, PASSWORD]) expect(text).not.toContain(secret);
});

test("a login outlives a restart of the service", async () => {
  const { accessToken, refreshToken } = await logIn();
  const { origin, folder } = iam;
  await iam.stop();
  iam = await startIam({ folder, port: Number(new URL(origin).port) });
  const bearer = { Authorization: `Bearer ${accessToken}` };
  expect((await iam.call("GET", "/v1/iam/me", undefined, bearer)).status).toBe(200);
  const fresh = await iam.call("POST", "/v1/iam/tokens:refresh", { refreshToken }, AS_HUB);
  expect(fresh.status).toBe(200);
});
