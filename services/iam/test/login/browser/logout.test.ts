import { openAuditLog } from "svc-access/runtime";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Browser } from "../../support/browser.ts";
import {
  databaseOf,
  loggedIn,
  logInBrowser,
  RETURN,
  SESSION,
  startSelf,
  userId,
  whoIs,
} from "../../support/browser-login.ts";
import type { IamService } from "../../support/iam-service.ts";

let service: IamService;
beforeAll(async () => {
  service = await startSelf();
});
afterAll(() => service.stop());

const at = (path: string) => `${service.origin}${path}`;
const LOGOUT = "/v1/iam/logout";

/** The token of the form that a browser is shown. */
async function formToken(browser: Browser): Promise<string> {
  const { text } = await browser.open(at(LOGOUT));
  return /name="form_token" value="([^"]*)"/.exec(text)?.[1] ?? "";
}

describe("a logout that is refused, and ends nothing [IDP-20]", () => {
  const send = async (
    browser: Browser,
    body: URLSearchParams | string,
    headers: Record<string, string> = {},
  ) => (await browser.request(at(LOGOUT), { method: "POST", body, headers })).status;

  test.each<[string, (browser: Browser) => Promise<number>, number]>([
    ["by GET", async (browser) => (await browser.request(at(LOGOUT))).status, 200],
    ["without a token", (browser) => send(browser, new URLSearchParams()), 403],
    [
      "with an empty token",
      (browser) => send(browser, new URLSearchParams({ form_token: "" })),
      403,
    ],
    [
      "with the token of another browser",
      async (browser) => {
        const token = await formToken(await loggedIn(service));
        return send(browser, new URLSearchParams({ form_token: token }));
      },
      403,
    ],
    [
      "with two tokens",
      async (browser) => {
        const token = await formToken(browser);
        const body = new URLSearchParams({ form_token: token });
        body.append("form_token", token);
        return send(browser, body);
      },
      403,
    ],
    [
      "as JSON",
      async (browser) => {
        const form_token = await formToken(browser);
        const type = { "content-type": "application/json" };
        return send(browser, JSON.stringify({ form_token }), type);
      },
      415,
    ],
    [
      "from another site",
      async (browser) => {
        const body = new URLSearchParams({ form_token: await formToken(browser) });
        return send(browser, body, { origin: "https://evil.example" });
      },
      403,
    ],
  ])("%s", async (_how, act, status) => {
    const browser = await loggedIn(service);
    expect(await act(browser)).toBe(status);
    expect(await whoIs(service, browser)).toBe("alice");
  });
});

test("a form without its token leads to the page that has one", async () => {
  const browser = await loggedIn(service);
  const body = new URLSearchParams({ form_token: "x" });
  const headers = { accept: "text/html" };
  const refused = await browser.request(at(LOGOUT), { method: "POST", body, headers });
  const page = await refused.text();
  expect([refused.status, page]).toEqual([403, expect.stringContaining("The form has expired")]);
  const link = /<a class="button" href="([^"]*)">Open the page again/.exec(page)?.[1] ?? "";
  const left = await browser.submit(await browser.open(at(link)), {});
  expect(left.text).toContain("Logged out");
  expect(browser.cookie(SESSION)).toBeUndefined();
});

test("ends the session here and at the provider, at once, for a copied cookie as well [IDP-4]", async () => {
  const browser = await loggedIn(service);
  const cookie = `${SESSION}=${browser.cookie(SESSION)}`;
  const page = await browser.open(at(LOGOUT));
  const left = await browser.submit(page, {});
  expect(left).toMatchObject({ url: at(LOGOUT), status: 200 });
  expect(left.text).toContain("Logged out");
  expect(browser.cookie(SESSION)).toBeUndefined();
  expect((await service.call("GET", "/v1/iam/me", undefined, { cookie })).status).toBe(401);
  // The provider asks for the password again, and somebody else can log in.
  const login = await browser.open(at("/v1/iam/ui/login"));
  expect(login.text).toContain('name="password"');
  expect((await logInBrowser(service, browser, { username: "bob" })).url).toBe(at(RETURN));
  expect(await whoIs(service, browser)).toBe("bob");
});

test("login and logout are audited, without the cookie [IDP-23]", async () => {
  const log = await openAuditLog(service.options.configuration);
  const count = async (type: string) => (await log.list({ type }, { pageSize: 500 })).events.length;
  const types = ["browser_session.started", "browser_session.ended"] as const;
  const before = [await count(types[0]), await count(types[1])];
  const browser = await loggedIn(service);
  const cookie = browser.cookie(SESSION) ?? "";
  await browser.submit(await browser.open(at(LOGOUT)), {});
  for (const [index, type] of types.entries()) {
    const { events } = await log.list({ type }, { pageSize: 500 });
    expect(events.length - (before[index] ?? 0)).toBe(1);
    const id = await userId(service, "alice");
    expect(events[0]).toMatchObject({ subject: `user:${id}`, data: { risk_level: "LOW" } });
    expect(JSON.stringify(events)).not.toContain(cookie);
  }
  await log.close();
});

test("of a session that is over already shows the same page", async () => {
  const browser = await loggedIn(service);
  const page = await browser.open(at(LOGOUT));
  await databaseOf(service).kysely.deleteFrom("iam_browser_sessions").execute();
  const left = await browser.submit(page, {});
  expect([left.status, left.url]).toEqual([200, at(LOGOUT)]);
  expect(browser.cookie(SESSION)).toBeUndefined();
  expect((await new Browser(service.origin).request(at(LOGOUT), { method: "POST" })).status).toBe(
    303,
  );
});

test("ends the session of one browser, and not those of the person's others", async () => {
  const [one, other] = [await loggedIn(service), await loggedIn(service)];
  await one.submit(await one.open(at(LOGOUT)), {});
  expect(await whoIs(service, one)).toBe(401);
  expect(await whoIs(service, other)).toBe("alice");
});

test("pages of the login are kept by no cache, shown in no frame, and say nothing to other sites [PAGE-5]", async () => {
  const browser = await loggedIn(service);
  for (const path of [
    "/v1/iam/ui/account",
    LOGOUT,
    "/v1/iam/ui/login",
    "/v1/iam/oauth2/callback",
  ]) {
    const { headers } = await browser.request(at(path));
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("referrer-policy")).toBe("no-referrer");
    if (headers.has("location")) continue;
    expect(headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
  }
});
