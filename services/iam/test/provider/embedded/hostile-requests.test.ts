import { randomBytes, randomUUID } from "node:crypto";
import { decodeJwt } from "jose";
import * as client from "openid-client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Browser } from "../../support/browser.ts";
import {
  basicOf,
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
let web: client.Configuration;
beforeAll(async () => {
  iam = await startProvider();
  web = await iam.configure(CONSOLE);
});
afterAll(stopAll);

test.each([
  ["the suffix of a host", "https://app.example.com.evil.example.net/callback"],
  ["another host", "https://evil.example.net/callback"],
  ["user information", "https://app.example.com@evil.example.net/callback"],
  ["a password", "https://app.example.com:x@evil.example.net/callback"],
  ["a backslash", "https://app.example.com\\@evil.example.net/callback"],
  ["two slashes", "//app.example.com/callback"],
  ["no scheme", "app.example.com/callback"],
  ["another scheme", "http://app.example.com/callback"],
  ["javascript:", "javascript:alert(1)//https://app.example.com/callback"],
  ["data:", "data:text/html,<script>alert(1)</script>"],
  ["the good one in a query", `https://evil.example.net/?${CALLBACK}`],
  ["the good one in a fragment", `https://evil.example.net/#${CALLBACK}`],
  ["a query of its own", `${CALLBACK}?next=//evil.example.net`],
  ["a fragment", `${CALLBACK}#x`],
  ["a longer path", `${CALLBACK}/..%2f..%2fevil`],
  ["dots", "https://app.example.com/x/../callback"],
  ["upper case", "https://APP.example.com/callback"],
  ["a slash at the end", `${CALLBACK}/`],
  ["a port", "https://app.example.com:444/callback"],
  ["another port of this machine", "http://localhost:3002/callback"],
  ["an address for localhost", "http://127.0.0.1:3001/callback"],
  ["white space", ` ${CALLBACK}`],
  ["a tab", `https://app.example.com\t.evil.example.net/callback`],
  ["a line break", `${CALLBACK}\r\nX-Evil: 1`],
  ["a zero byte", `${CALLBACK}\0`],
  ["nothing", ""],
])(
  "30 a redirect_uri with %s is refused with a page, and leads nowhere [IDP-10]",
  async (_, uri) => {
    const begun = await begin(web, { redirect_uri: uri });
    const response = await new Browser(iam.origin).request(begun.url.href);
    const text = await response.text();
    expect([response.status, response.headers.get("location")]).toEqual([400, null]);
    expect(response.headers.get("content-type")).toContain("text/html");
    expect(text).not.toMatch(/<script|evil\.example\.net/);
  },
);

test("30 a redirect_uri that is missing, or comes twice, is refused", async () => {
  for (const change of [
    (url: URL) => url.searchParams.delete("redirect_uri"),
    (url: URL) => url.searchParams.append("redirect_uri", "https://evil.example.net/"),
  ]) {
    const { url } = await begin(web);
    change(url);
    const response = await new Browser(iam.origin).request(url.href);
    expect([response.status, response.headers.get("location")]).toEqual([400, null]);
  }
});

test("30 a code is not redeemed with another redirect_uri", async () => {
  const begun = await begin(web);
  const browser = new Browser(iam.origin);
  const back = await enter(browser, await browser.open(begun.url.href));
  const response = await redeemByHand(codeOf(back.url), {
    redirect_uri: "http://localhost:3001/callback",
    code_verifier: begun.verifier,
  });
  expect([response.status, await response.json()]).toMatchObject([400, { error: "invalid_grant" }]);
});

test("31 the client refuses an answer without its state, or with another one", async () => {
  const begun = await begin(web);
  const browser = new Browser(iam.origin);
  const back = await enter(browser, await browser.open(begun.url.href));
  const without = new URL(back.url);
  without.searchParams.delete("state");
  await expect(redeem(web, without.href, begun)).rejects.toThrow();
  await expect(redeem(web, back.url, { ...begun, state: "other" })).rejects.toThrow();
  expect(new URL(back.url).searchParams.get("state")).toBe(begun.state);
});

test("31 a login that another browser has begun is not continued", async () => {
  const [first, second] = [new Browser(iam.origin), new Browser(iam.origin)];
  const page = await first.open((await begin(web)).url.href);
  await second.open((await begin(web)).url.href);
  for (const method of ["GET", "POST"]) {
    const body = new URLSearchParams({ action: "login", username: "alice", password: "x" });
    const response = await second.request(page.url, method === "POST" ? { method, body } : {});
    expect(response.status).toBe(400);
    expect(await response.text()).toContain("The login has expired");
  }
  const uid = page.url.split("/").at(-1);
  const resumed = await second.request(`${iam.issuer}/auth/${uid}`);
  expect([resumed.status, resumed.headers.get("location")]).toEqual([400, null]);
});

test("31 a login that was completed is not completed again", async () => {
  const begun = await begin(web);
  const browser = new Browser(iam.origin);
  const page = await browser.open(begun.url.href);
  await enter(browser, page);
  for (const again of [await browser.open(page.url), await enter(browser, page)]) {
    expect([again.url, again.text]).toEqual([
      page.url,
      expect.stringContaining("You are already logged in"),
    ]);
  }
});

test.each([
  ["a sending site that is another one", { "sec-fetch-site": "cross-site" }],
  ["a sibling of this site", { "sec-fetch-site": "same-site" }],
  ["the origin of another site", { origin: "https://evil.example.net" }],
  ["the origin null", { origin: "null" }],
])("31 a form with %s is refused", async (_, headers) => {
  const browser = new Browser(iam.origin);
  const page = await browser.open((await begin(web)).url.href);
  const body = new URLSearchParams({ action: "login", username: "alice", password: "x" });
  const count = iam.accounts.attempts.length;
  const response = await browser.request(page.url, { method: "POST", body, headers });
  expect(response.status).toBe(400);
  expect(iam.accounts.attempts.length).toBe(count);
});

test("32 the ID token has the nonce of its request, and none where there was none", async () => {
  const begun = await begin(web);
  const browser = new Browser(iam.origin);
  const back = await enter(browser, await browser.open(begun.url.href));
  await expect(redeem(web, back.url, { ...begun, nonce: "other" })).rejects.toThrow();
  const { url, verifier } = await begin(web);
  url.searchParams.delete("nonce");
  const second = await browser.open(url.href);
  const response = await redeemByHand(codeOf(second.url), { code_verifier: verifier });
  const { id_token } = (await response.json()) as { id_token: string };
  expect(decodeJwt(id_token)["nonce"]).toBeUndefined();
});

test.each([
  ["absent", { code_challenge: undefined, code_challenge_method: undefined }],
  ["plain", { code_challenge_method: "plain" }],
  ["without a method", { code_challenge_method: undefined }],
  ["of another method", { code_challenge_method: "S512" }],
  ["too short", { code_challenge: "abc" }],
  ["empty", { code_challenge: "" }],
])("33 a code challenge that is %s is refused [IDP-10]", async (_, changes) => {
  const { url } = await begin(web);
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined) url.searchParams.delete(name);
    else url.searchParams.set(name, value);
  }
  const back = await new Browser(iam.origin).open(url.href);
  expect(new URL(back.url).searchParams.get("error")).toBe("invalid_request");
  expect(new URL(back.url).searchParams.get("code")).toBeNull();
});

test.each([
  ["absent", undefined],
  ["wrong", client.randomPKCECodeVerifier()],
  ["empty", ""],
  ["too short", "abc"],
])("33 a code verifier that is %s is refused", async (_, verifier) => {
  const begun = await begin(web);
  const browser = new Browser(iam.origin);
  const back = await enter(browser, await browser.open(begun.url.href));
  const given = verifier === undefined ? {} : { code_verifier: verifier };
  const response = await redeemByHand(codeOf(back.url), given);
  expect(response.status).toBe(400);
  expect(await response.text()).not.toContain("access_token");
});

test("33 a code that is redeemed again ends all that it has given, and is audited [IDP-10]", async () => {
  const begun = await begin(web);
  const browser = new Browser(iam.origin);
  const back = await enter(browser, await browser.open(begun.url.href));
  const tokens = await redeem(web, back.url, begun);
  await expect(redeem(web, back.url, begun)).rejects.toMatchObject({ error: "invalid_grant" });
  expect(await client.tokenIntrospection(web, tokens.access_token)).toEqual({ active: false });
  await expect(client.refreshTokenGrant(web, tokens.refresh_token ?? "")).rejects.toMatchObject({
    error: "invalid_grant",
  });
  const [event] = await iam.events("authorization_code.reused");
  expect(event?.data).toMatchObject({ risk_level: "HIGH", details: { client: CONSOLE.id } });
});

test("33 of many who redeem a code at once, one gets tokens at most", async () => {
  const begun = await begin(web);
  const browser = new Browser(iam.origin);
  const back = await enter(browser, await browser.open(begun.url.href));
  const all = await Promise.allSettled(
    Array.from({ length: 8 }, () => redeem(web, back.url, begun)),
  );
  expect(all.filter(({ status }) => status === "fulfilled").length).toBeLessThanOrEqual(1);
});

test("34 each answer names its issuer, and the client refuses that of another one [IDP-10]", async () => {
  const begun = await begin(web);
  const browser = new Browser(iam.origin);
  const page = await browser.open(begun.url.href);
  const cancelled = await browser.submit(page, { action: "cancel" });
  expect(new URL(cancelled.url).searchParams.get("iss")).toBe(iam.issuer);
  const second = await begin(web);
  const back = await enter(browser, await browser.open(second.url.href));
  const mixed = new URL(back.url);
  mixed.searchParams.set("iss", "https://evil.example.net");
  await expect(redeem(web, mixed.href, second)).rejects.toThrow();
  mixed.searchParams.delete("iss");
  await expect(redeem(web, mixed.href, second)).rejects.toThrow();
});

const COOKIES: readonly [string, string][] = [
  ["nothing", ""],
  ["another session", randomBytes(32).toString("base64url")],
  ["a path", "../../../etc/passwd"],
  ["SQL", "x' or '1'='1"],
  ["markup", "<script>alert(1)</script>"],
  ["__proto__", "__proto__"],
  ["JSON", '{"accountId":"root"}'],
  ["percent signs", "%00%ff%zz"],
  ["four kilobytes", "a".repeat(4096)],
];

test.each(COOKIES)("35 a session cookie of %s is nobody's session", async (_, value) => {
  const browser = new Browser(iam.origin);
  browser.setCookie("iam_session", value);
  const page = await browser.open((await begin(web)).url.href);
  expect(page.status).toBe(200);
  expect(page.text).toContain('name="password"');
  expect(page.text).not.toContain("<script");
});

test.each(COOKIES)("35 an interaction cookie of %s is nobody's login", async (_, value) => {
  const browser = new Browser(iam.origin);
  browser.setCookie("iam_interaction", value);
  for (const uid of ["x", randomUUID(), encodeURIComponent(value)]) {
    const visit = await browser.open(`${iam.issuer}/interaction/${uid}`);
    expect(visit.status).toBeGreaterThanOrEqual(400);
    expect(visit.status).toBeLessThan(500);
    expect(visit.text).not.toContain("<script");
  }
});

test("35 a session cookie is not taken over from who set it before the login", async () => {
  const victim = new Browser(iam.origin);
  await victim.open((await begin(web)).url.href);
  const before = victim.cookie("iam_session") ?? randomBytes(32).toString("base64url");
  victim.setCookie("iam_session", before, "/v1/iam/oidc");
  await logIn(web, victim);
  expect(victim.cookie("iam_session")).not.toBe(before);
  const attacker = new Browser(iam.origin);
  attacker.setCookie("iam_session", before);
  const page = await attacker.open((await begin(web)).url.href);
  expect(page.text).toContain('name="password"');
});

test("35 the cookies are HttpOnly, SameSite=Lax and, but for that of the browser, only sent to the provider", async () => {
  const response = await fetch((await begin(web)).url, { redirect: "manual" });
  const cookies = response.headers.getSetCookie();
  expect(cookies.length).toBeGreaterThan(0);
  for (const cookie of cookies) {
    expect(cookie).toMatch(/; samesite=lax/i);
    expect(cookie).toMatch(/; httponly/i);
    if (!cookie.startsWith("iam_browser=")) expect(cookie).toMatch(/; path=\/v1\/iam\/oidc/i);
  }
});

function codeOf(url: string): string {
  return new URL(url).searchParams.get("code") ?? "";
}

function redeemByHand(code: string, parameters: Readonly<Record<string, string>>) {
  return fetch(`${iam.issuer}/token`, {
    method: "POST",
    headers: {
      authorization: basicOf(CONSOLE),
    },
    body: new URLSearchParams({
      grant_type: "authorization_code",
      code,
      redirect_uri: CALLBACK,
      ...parameters,
    }),
  });
}
