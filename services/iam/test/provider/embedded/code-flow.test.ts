import { createLocalJWKSet, decodeJwt, type JSONWebKeySet, jwtVerify } from "jose";
import * as client from "openid-client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { STYLE_SOURCE } from "../../../src/pages/style-sheet.ts";
import { Browser, fieldOf } from "../../support/browser.ts";
import { ALICE, PASSWORD } from "../../support/memory-accounts.ts";
import {
  begin,
  CALLBACK,
  CONSOLE,
  enter,
  logIn,
  type RunningProvider,
  redeem,
  startProvider,
  stopAll,
} from "../../support/provider-server.ts";

let iam: RunningProvider;
let configuration: client.Configuration;
beforeAll(async () => {
  iam = await startProvider();
  configuration = await iam.configure(CONSOLE);
});
afterAll(stopAll);

test("a person logs in by the code flow with PKCE, and comes back [IDP-1]", async () => {
  const browser = new Browser(iam.origin);
  const begun = await begin(configuration);
  const page = await browser.open(begun.url.href);
  expect(page.url).toMatch(new RegExp(`^${iam.origin}/v1/iam/oidc/interaction/[\\w-]+$`));
  expect(page.text).toContain("to continue to <bdi>Console &amp; &lt;Co&gt;</bdi>");
  const back = await enter(browser, page);
  expect(back.url).toMatch(`${CALLBACK}?code=`);
  expect(new URL(back.url).searchParams.get("iss")).toBe(iam.issuer);
  const tokens = await redeem(configuration, back.url, begun);
  expect(tokens.claims()).toMatchObject({
    iss: iam.issuer,
    aud: CONSOLE.id,
    sub: ALICE.id,
    id: ALICE.id,
    name: ALICE.displayName,
    displayName: ALICE.displayName,
    preferred_username: "alice",
    email: ALICE.email,
    owner: "acme",
    subject_type: "user",
    sid: expect.any(String),
  });
  expect(tokens.refresh_token).toEqual(expect.any(String));
  expect(tokens.expires_in).toBe(300);
});

test("auth_time is when the password was right, and not when the browser came back [FACTOR-6]", async () => {
  const browser = new Browser(iam.origin);
  const begun = await begin(configuration, { max_age: "3600" });
  const page = await browser.open(begun.url.href);
  const form = { action: "login", username: "alice", password: PASSWORD };
  const body = new URLSearchParams({ ...form, form_token: fieldOf(page, "form_token") });
  const sent = await browser.request(page.url, { method: "POST", body });
  const entered = Date.now() / 1000;
  const { now } = Date;
  Date.now = () => now() + 1_200_000;
  try {
    const back = await browser.open(sent.headers.get("location") ?? "");
    const claims = (await redeem(configuration, back.url, begun)).claims();
    expect(claims?.auth_time).toBeLessThanOrEqual(entered);
    expect(claims?.iat).toBeGreaterThan(entered + 1000);
  } finally {
    Date.now = now;
  }
});

const WHOSE = ["id", "owner", "sid", "sub", "subject_type"];
const NAMES = ["displayName", "name", "preferred_username"];
test.each([
  ["openid", WHOSE],
  ["openid offline_access", WHOSE],
  ["openid email", [...WHOSE, "email"]],
  ["openid profile", [...WHOSE, ...NAMES]],
  ["openid profile email", [...WHOSE, ...NAMES, "email"]],
])(
  "with the scopes %s, a client gets these claims, also after a refresh",
  async (scope, claims) => {
    const tokens = await logIn(configuration, new Browser(iam.origin), { scope });
    const next = await client.refreshTokenGrant(configuration, tokens.refresh_token ?? "");
    for (const { access_token } of [tokens, next]) {
      const known = [...WHOSE, ...NAMES, "email"];
      const names = Object.keys(decodeJwt(access_token)).filter((name) => known.includes(name));
      expect(names.sort()).toEqual(claims.toSorted());
    }
  },
);

test("a refresh for fewer scopes gets fewer claims", async () => {
  const tokens = await logIn(configuration, new Browser(iam.origin));
  const next = await client.refreshTokenGrant(configuration, tokens.refresh_token ?? "", {
    scope: "openid profile",
  });
  expect(decodeJwt(next.access_token)).toMatchObject({ sub: ALICE.id, name: ALICE.displayName });
  expect(decodeJwt(next.access_token)).not.toHaveProperty("email");
});

test("the access token has all claims that services and the edge read, and verifies by the keys [IDP-2]", async () => {
  const tokens = await logIn(configuration, new Browser(iam.origin));
  const jwks = (await (await fetch(`${iam.issuer}/jwks`)).json()) as JSONWebKeySet;
  const { payload, protectedHeader } = await jwtVerify(
    tokens.access_token,
    createLocalJWKSet(jwks),
    { issuer: iam.issuer, audience: CONSOLE.id, typ: "at+jwt", algorithms: ["RS256"] },
  );
  expect(protectedHeader.kid).toBe(jwks.keys[0]?.kid);
  expect(payload).toEqual({
    iss: iam.issuer,
    aud: CONSOLE.id,
    client_id: CONSOLE.id,
    sub: ALICE.id,
    id: ALICE.id,
    subject_type: "user",
    email: ALICE.email,
    name: ALICE.displayName,
    displayName: ALICE.displayName,
    preferred_username: "alice",
    owner: "acme",
    scope: "openid profile email",
    jti: expect.any(String),
    sid: tokens.claims()?.["sid"],
    iat: expect.any(Number),
    exp: (payload.iat as number) + 300,
  });
  for (const key of jwks.keys) {
    expect(key).toMatchObject({ alg: "RS256", use: "sig", kty: "RSA", kid: expect.any(String) });
    expect(Object.keys(key).sort()).toEqual(["alg", "e", "kid", "kty", "n", "use"]);
  }
});

test("an access token with the largest claims is below 2.5 KB [IDP-2]", async () => {
  const wide = "\u{1f511}".repeat(2000);
  iam.accounts.add({
    ...ALICE,
    id: "6f9c2a52-5d8e-4a8a-9c33-5b7ad38e0f01",
    username: `wide${wide}`,
    displayName: wide,
    email: `${"e".repeat(242)}@example.com`,
  });
  const browser = new Browser(iam.origin);
  const begun = await begin(configuration, { scope: "openid profile email offline_access" });
  const page = await browser.open(begun.url.href);
  const back = await enter(browser, page, { username: `wide${wide}` });
  const { access_token } = await redeem(configuration, back.url, begun);
  expect(access_token.length).toBeLessThan(2500);
  expect(decodeJwt(access_token)["name"]).toBe("\u{1f511}".repeat(40));
});

test("a second client request in the same browser needs no password", async () => {
  const browser = new Browser(iam.origin);
  const first = await logIn(configuration, browser);
  const begun = await begin(configuration);
  const back = await browser.open(begun.url.href);
  expect(back.url).toContain(CALLBACK);
  const second = await redeem(configuration, back.url, begun);
  expect(second.claims()?.["sid"]).toBe(first.claims()?.["sid"]);
});

test("another browser has to enter the password, and gets another session", async () => {
  const first = await logIn(configuration, new Browser(iam.origin));
  const second = await logIn(configuration, new Browser(iam.origin));
  expect(second.claims()?.["sid"]).not.toBe(first.claims()?.["sid"]);
});

test("a wrong password is reported, is audited without what was typed, and can be corrected", async () => {
  const browser = new Browser(iam.origin);
  const begun = await begin(configuration, { login_hint: '"><script>alert(1)</script>' });
  const page = await browser.open(begun.url.href);
  expect(page.text).not.toContain("<script");
  const username = '"><b>hunter2-typed';
  const again = await enter(browser, page, { username, password: "wrong-typed" });
  expect(again.status).toBe(401);
  // The person need not enter it again.
  expect(again.text).toMatch(/name="username"[^>]* value="&quot;&gt;&lt;b&gt;hunter2-typed"/);
  expect(again.text).not.toContain("wrong-typed");
  expect(again.text).toContain("The user name or the password is wrong.");
  const back = await enter(browser, again);
  await redeem(configuration, back.url, begun);
  const failed = await iam.events("login.failed");
  expect(failed.length).toBeGreaterThan(0);
  expect(JSON.stringify(failed)).not.toContain("-typed");
  expect(failed.at(-1)?.data).toMatchObject({ risk_level: "MEDIUM" });
  const [succeeded] = await iam.events("login.succeeded");
  expect(succeeded?.data).toMatchObject({ resource: `user:${ALICE.id}` });
});

test("a login whose password is changed before it is completed is none in the audit, and another one is there once", async () => {
  const count = async () => (await iam.events("login.succeeded")).length;
  const before = await count();
  const browser = new Browser(iam.origin);
  const page = await browser.open((await begin(configuration)).url.href);
  iam.accounts.answer = { outcome: "ok", account: ALICE, passwordVersion: -5 };
  const { status, url } = await enter(browser, page);
  iam.accounts.answer = undefined;
  expect([status, new URL(url).origin]).toEqual([expect.any(Number), iam.origin]);
  expect(status).toBeGreaterThanOrEqual(400);
  expect(await count()).toBe(before);
  const begun = await begin(configuration);
  const other = new Browser(iam.origin);
  const back = await enter(other, await other.open(begun.url.href));
  await redeem(configuration, back.url, begun);
  expect(await count()).toBe(before + 1);
});

test.each([
  [{ outcome: "slowed", retryAfterMs: 61_500 }, 429, "62", "Try again in 62 s"],
  [{ outcome: "slowed", retryAfterMs: 884_500 }, 429, "885", "Try again in 15 minutes"],
  [{ outcome: "busy" }, 503, "5", "Too many people"],
] as const)("somebody who is %j learns when to try again", async (answer, status, after, text) => {
  const browser = new Browser(iam.origin);
  const page = await browser.open((await begin(configuration)).url.href);
  iam.accounts.answer = answer;
  const form_token = fieldOf(page, "form_token");
  const body = new URLSearchParams({
    action: "login",
    username: "alice",
    password: "x",
    form_token,
  });
  const response = await browser.request(page.url, { method: "POST", body });
  iam.accounts.answer = undefined;
  expect([response.status, response.headers.get("retry-after")]).toEqual([status, after]);
  expect(await response.text()).toContain(text);
});

test("a person who cancels comes back with access_denied", async () => {
  const browser = new Browser(iam.origin);
  const begun = await begin(configuration);
  const back = await browser.submit(await browser.open(begun.url.href), { action: "cancel" });
  await expect(redeem(configuration, back.url, begun)).rejects.toMatchObject({
    error: "access_denied",
  });
});

test("a disabled account can neither log in nor refresh", async () => {
  const tokens = await logIn(configuration, new Browser(iam.origin));
  iam.accounts.add({ ...ALICE, disabled: true });
  await expect(
    client.refreshTokenGrant(configuration, tokens.refresh_token ?? ""),
  ).rejects.toMatchObject({ error: "invalid_grant" });
  iam.accounts.add(ALICE);
});

test("pages allow no scripts, frames or other origins, and are not stored [PAGE-5]", async () => {
  const browser = new Browser(iam.origin);
  const page = await browser.open((await begin(configuration)).url.href);
  const response = await browser.request(page.url);
  expect(Object.fromEntries(response.headers)).toMatchObject({
    "content-security-policy": `default-src 'none'; style-src ${STYLE_SOURCE}; img-src 'self'; form-action 'self' https://app.example.com; frame-ancestors 'none'; base-uri 'none'`,
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
  });
});

test("discovery names only what there is, at the public address [IDP-2]", async () => {
  const response = await fetch(`${iam.issuer}/.well-known/openid-configuration`, {
    headers: { host: "evil.example.com", "x-forwarded-host": "evil.example.com" },
  });
  const document = (await response.json()) as Record<string, unknown>;
  expect(JSON.stringify(document)).not.toContain("evil");
  expect(document).toMatchObject({
    issuer: iam.issuer,
    authorization_endpoint: `${iam.issuer}/auth`,
    token_endpoint: `${iam.issuer}/token`,
    code_challenge_methods_supported: ["S256"],
    response_types_supported: ["code"],
    token_endpoint_auth_methods_supported: ["client_secret_basic", "private_key_jwt", "none"],
  });
  expect(document).not.toHaveProperty("registration_endpoint");
  expect(document).not.toHaveProperty("userinfo_endpoint");
});
