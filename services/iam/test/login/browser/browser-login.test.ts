import { openAuditLog } from "svc-access/runtime";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Browser } from "../../support/browser.ts";
import {
  untilCallback as callbackOf,
  databaseOf,
  loggedIn,
  logInBrowser,
  RETURN,
  SESSION,
  startSelf,
  whoIs,
} from "../../support/browser-login.ts";
import { asUser, type IamService } from "../../support/iam-service.ts";

let service: IamService;
beforeAll(async () => {
  service = await startSelf({ authn: { mode: "hybrid" } });
});
afterAll(() => service.stop());

const at = (path: string) => `${service.origin}${path}`;
const rows = () =>
  databaseOf(service).kysely.selectFrom("iam_browser_sessions").selectAll().execute();

const untilCallback = (browser: Browser, change?: (authorization: URL) => void) =>
  callbackOf(service, browser, change);

describe("30 a login that would lead elsewhere does not begin [IDP-18]", () => {
  test.each([
    "return_to=//evil.example",
    "return_to=%2f%2fevil.example",
    "return_to=/%5cevil.example",
    "return_to=/%09/evil.example",
    "return_to=/%252f/evil.example",
    "return_to=https://evil.example/",
    "return_to=/a&return_to=//evil.example",
  ])("%s", async (query) => {
    const response = await fetch(at(`/v1/iam/ui/login?${query}`), { redirect: "manual" });
    expect(response.status).toBe(400);
    expect(response.headers.getSetCookie()).toEqual([]);
    expect(await response.text()).not.toContain("evil");
  });
});

describe("a callback that is refused", () => {
  const status = async (browser: Browser, url: URL | string) =>
    (await browser.request(String(url))).status;

  test.each<[string, (url: URL) => void]>([
    ["31 without its state", (url) => url.searchParams.delete("state")],
    ["31 with another state", (url) => url.searchParams.set("state", "x".repeat(43))],
    ["31 with two states", (url) => url.searchParams.append("state", "x")],
    ["33 without its code", (url) => url.searchParams.delete("code")],
    ["33 with another code", (url) => url.searchParams.set("code", "x".repeat(43))],
    ["33 with two codes", (url) => url.searchParams.append("code", "x")],
    ["34 with another issuer", (url) => url.searchParams.set("iss", "https://evil.example")],
    ["34 with two issuers", (url) => url.searchParams.append("iss", "https://evil.example")],
    [
      "34 without the issuer, which the provider announces",
      (url) => url.searchParams.delete("iss"),
    ],
    ["with an error", (url) => url.searchParams.set("error", "access_denied")],
  ])("%s", async (_how, change) => {
    const browser = new Browser(service.origin);
    const url = await untilCallback(browser);
    change(url);
    expect(await status(browser, url)).toBe(400);
    expect(browser.cookie(SESSION)).toBeUndefined();
  });

  test("31 in another browser [IDP-18]", async () => {
    const url = await untilCallback(new Browser(service.origin));
    const other = new Browser(service.origin);
    await other.open(at("/v1/iam/ui/login"));
    expect(await status(other, url)).toBe(400);
    expect(other.cookie(SESSION)).toBeUndefined();
  });

  test.each<[string, (authorization: URL) => void]>([
    ["32 with an ID token of another nonce", (url) => url.searchParams.set("nonce", "other")],
    ["32 with an ID token without a nonce", (url) => url.searchParams.delete("nonce")],
    ["33 with another challenge", (url) => url.searchParams.set("code_challenge", "x".repeat(43))],
  ])("%s", async (_what, change) => {
    const browser = new Browser(service.origin);
    expect(await status(browser, await untilCallback(browser, change))).toBe(400);
    expect(browser.cookie(SESSION)).toBeUndefined();
  });

  test.each<[string, (authorization: URL) => void]>([
    ["33 without a challenge", (url) => url.searchParams.delete("code_challenge")],
    ["33 with the method plain", (url) => url.searchParams.set("code_challenge_method", "plain")],
    [
      "30 to another address",
      (url) => url.searchParams.set("redirect_uri", "https://evil.example/"),
    ],
    [
      "30 to an address below",
      (url) => url.searchParams.append("redirect_uri", at("/v1/iam/oauth2/callback/x")),
    ],
  ])("%s: the provider does not ask for a password", async (_what, change) => {
    const browser = new Browser(service.origin);
    const begun = await browser.request(at("/v1/iam/ui/login"));
    const url = new URL(begun.headers.get("location") ?? "");
    change(url);
    const visit = await browser.open(url.href);
    expect(visit.text).not.toContain('name="password"');
    expect(new URL(visit.url).hostname).toBe("localhost");
    expect(browser.cookie(SESSION)).toBeUndefined();
  });

  test("33 with the code of another login: its PKCE verifier is another one", async () => {
    const browser = new Browser(service.origin);
    const [first, second] = [
      await untilCallback(browser),
      await untilCallback(new Browser(service.origin)),
    ];
    first.searchParams.set("code", second.searchParams.get("code") ?? "");
    expect(await status(browser, first)).toBe(400);
  });

  test("31, 33 a second time, even with its cookie; the session continues [IDP-18]", async () => {
    const browser = new Browser(service.origin);
    const url = await untilCallback(browser);
    const pending = browser.names().filter((name) => name.startsWith("__Host-iam_pending_"));
    expect(pending).toHaveLength(1);
    const [name = ""] = pending;
    const cookie = browser.cookie(name) ?? "";
    expect(await status(browser, url)).toBe(303);
    expect(browser.cookie(name)).toBeUndefined();
    browser.setCookie(name, cookie);
    expect(await status(browser, url)).toBe(400);
    expect(await whoIs(service, browser)).toBe("alice");
  });

  test("31, 33 several times at once: one counts, and its session continues [IDP-18]", async () => {
    const browser = new Browser(service.origin);
    const url = await untilCallback(browser);
    const sent = await Promise.all([1, 2, 3, 4].map(() => status(browser, url)));
    expect(sent.sort()).toEqual([303, 400, 400, 400]);
    expect(await whoIs(service, browser)).toBe("alice");
    // A code that is redeemed twice would have ended it at the provider.
    const log = await openAuditLog(service.options.configuration);
    const { events } = await log.list({ type: "authorization_code.reused" });
    await log.close();
    expect(events).toEqual([]);
  });

  test("31 after one of the same login that was refused", async () => {
    const browser = new Browser(service.origin);
    const url = await untilCallback(browser);
    const [name = ""] = browser.names().filter((one) => one.startsWith("__Host-iam_pending_"));
    const cookie = browser.cookie(name) ?? "";
    const refused = new URL(url);
    refused.searchParams.set("error", "access_denied");
    expect(await status(browser, refused)).toBe(400);
    browser.setCookie(name, cookie);
    expect(await status(browser, url)).toBe(400);
    expect(browser.cookie(SESSION)).toBeUndefined();
  });
});

describe("35 a session cookie that is not valid", () => {
  test.each([
    ["empty", ""],
    ["text", "x"],
    ["a long one", "x".repeat(4000)],
    ["of the right form", "A".repeat(43)],
    ["with a percent sign", "%00"],
    ["with quotes", '"x"'],
    ["JSON", '{"a":1}'],
    ["SQL", "' or '1'='1"],
  ])("%s", async (_what, value) => {
    const cookie = `${SESSION}=${value}`;
    const refused = await service.call("GET", "/v1/iam/me", undefined, { cookie });
    expect(refused.status).toBe(401);
    // A page for everybody is served.
    const page = await fetch(at("/v1/iam/logout"), { headers: { cookie } });
    expect(page.status).toBe(200);
  });

  test("that comes twice", async () => {
    const value = (await loggedIn(service)).cookie(SESSION);
    const cookie = `${SESSION}=${value}; ${SESSION}=${value}`;
    expect((await service.call("GET", "/v1/iam/me", undefined, { cookie })).status).toBe(401);
  });

  test("of a name that only begins alike, or in another case, is none", async () => {
    const value = (await loggedIn(service)).cookie(SESSION);
    for (const name of [`${SESSION}2`, "iam_login", "__host-iam_login"]) {
      const headers = { cookie: `${name}=${value}` };
      expect((await service.call("GET", "/v1/iam/me", undefined, headers)).status).toBe(401);
    }
  });
});

describe("a browser that is logged in", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await loggedIn(service);
  });

  test("is its user, beside its own headers, and nobody else beside those of others [IAM-40]", async () => {
    const { subject_id: id } = (await rows()).at(-1) ?? { subject_id: "" };
    expect(await whoIs(service, browser)).toBe("alice");
    expect(await whoIs(service, browser, asUser(id))).not.toBe(401);
    expect(await whoIs(service, browser, asUser("mallory"))).toBe(401);
  });

  test("with the token of somebody else is nobody", async () => {
    const { options } = service;
    expect(options.authenticators?.map(({ name }) => name)).toEqual(["browser_session"]);
    const bob = await loggedIn(service, "bob");
    const token = await accessTokenOf(bob);
    const headers = { authorization: `Bearer ${token}` };
    expect(await whoIs(service, bob, headers)).toBe("bob");
    expect(await whoIs(service, browser, headers)).toBe(401);
  });

  test.each([
    ["another origin", { origin: "https://evil.example" }],
    ["the origin null", { origin: "null" }],
    ["another site", { "sec-fetch-site": "cross-site" }],
  ])("changes nothing for a page of %s [IDP-20]", async (_what, headers) => {
    const init = { method: "PATCH", body: '{"name":"x"}' };
    const type = { "content-type": "application/json" };
    const change = (more: Record<string, string>) =>
      browser.request(at("/v1/iam/me"), { ...init, headers: { ...type, ...more } });
    expect((await change(headers as Record<string, string>)).status).toBe(403);
    expect((await change({ origin: service.origin })).status).toBe(200);
  });

  test("has an opaque cookie, of which the database has only the hash, and sealed tokens [IDP-19]", async () => {
    const stored = JSON.stringify(await rows());
    expect(browser.cookie(SESSION)).toMatch(/^[\w-]{43}$/);
    expect(stored).not.toContain(browser.cookie(SESSION));
    expect(stored).not.toMatch(/eyJ[\w-]+\.eyJ/);
    expect(browser.lines.filter((line) => line.startsWith(SESSION))).toEqual([
      expect.stringMatching(
        /^__Host-iam_login=[\w-]{43}; Max-Age=2592000; Path=\/; Secure; HttpOnly; SameSite=Lax$/,
      ),
    ]);
  });

  test("is not asked again, and goes where it wants", async () => {
    const visit = await browser.request(at("/v1/iam/ui/login?return_to=/skills"));
    expect([visit.status, visit.headers.get("location")]).toEqual([303, at("/skills")]);
  });
});

test("a session that its person ends from another browser is over at once [IDP-22]", async () => {
  const [one, other] = [await loggedIn(service), await loggedIn(service)];
  const { sessions } = (await (await one.request(at("/v1/iam/me/sessions"))).json()) as {
    sessions: { id: string; current: boolean }[];
  };
  expect(sessions.filter(({ current }) => current)).toHaveLength(1);
  const ended = await one.request(at("/v1/iam/me/sessions:endOthers"), { method: "POST" });
  expect(ended.status).toBe(200);
  expect(await whoIs(service, other)).toBe(401);
  expect(await whoIs(service, one)).toBe("alice");
});

test("a login leads to the page that was asked for, and replaces the session of its browser [IDP-4, IDP-19]", async () => {
  const browser = new Browser(service.origin);
  expect((await logInBrowser(service, browser)).url).toBe(at(RETURN));
  const before = browser.cookie(SESSION) ?? "";
  const url = await untilCallbackAgain(browser);
  browser.setCookie(SESSION, before);
  expect((await browser.request(url.href)).status).toBe(303);
  expect(browser.cookie(SESSION)).not.toBe(before);
  const cookie = `${SESSION}=${before}`;
  expect((await service.call("GET", "/v1/iam/me", undefined, { cookie })).status).toBe(401);
});

/** A second login of a browser, whose session at the provider lasts. */
async function untilCallbackAgain(browser: Browser): Promise<URL> {
  browser.setCookie(SESSION, "none");
  let location = new URL(at("/v1/iam/ui/login"));
  while (location.pathname !== "/v1/iam/oauth2/callback") {
    const response = await browser.request(location.href);
    location = new URL(response.headers.get("location") ?? "", location);
  }
  return location;
}

async function accessTokenOf(browser: Browser): Promise<string> {
  const { SecretBox } = await import("../../../src/ground/secrets/secret-box.ts");
  const { readEncryptionKeys } = await import(
    "../../../src/ground/secrets/read-encryption-keys.ts"
  );
  const { BrowserSessions } = await import("../../../src/login/browser/browser-sessions.ts");
  const file = `${service.folder}/encryption-key`;
  const box = new SecretBox(readEncryptionKeys({ file, environment: "test" }));
  const times = { idleMs: 1e9, absoluteMs: 1e9 };
  const sessions = new BrowserSessions(databaseOf(service).as(), box, times);
  return (await sessions.use(browser.cookie(SESSION) ?? ""))?.tokens.accessToken ?? "";
}
