/** Authorization requests and logouts that a client has the browser send as a form. */
import * as client from "openid-client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Browser } from "../../../support/browser.ts";
import { ALICE } from "../../../support/memory-accounts.ts";
import {
  begin,
  CONSOLE,
  enter,
  logIn,
  type RunningProvider,
  redeem,
  startProvider,
  stopAll,
} from "../../../support/provider-server.ts";

let iam: RunningProvider;
let web: client.Configuration;
beforeAll(async () => {
  iam = await startProvider({ clients: [CONSOLE] });
  web = await iam.configure(CONSOLE);
});
afterAll(() => stopAll());

/** A form of another site, which a browser sends without cookies that are `SameSite=Lax`. */
function send(path: string, body: URLSearchParams | string, headers: Record<string, string> = {}) {
  return fetch(`${iam.issuer}${path}`, {
    method: "POST",
    redirect: "manual",
    headers: {
      origin: "https://app.example.com",
      "sec-fetch-site": "cross-site",
      "content-type": "application/x-www-form-urlencoded",
      ...headers,
    },
    body: String(body),
  });
}

const form = (fields: Readonly<Record<string, string>>) => new URLSearchParams(fields);

test.each([
  ["of another type", "/auth", "{}", { "content-type": "application/json" }, 415],
  ["without a type", "/session/end", "state=s", { "content-type": "" }, 415],
  ["that is too large", "/session/end", `x=${"x".repeat(12_287)}`, {}, 413],
  ["with a state that is too long", "/session/end", form({ state: "s".repeat(4097) }), {}, 400],
  ["with a nonce that is too long", "/auth", form({ nonce: "n".repeat(513) }), {}, 400],
])("a form %s is refused", async (_, path, body, headers, status) => {
  const response = await send(path, body, headers);
  expect([response.status, response.headers.get("location")]).toEqual([status, null]);
  expect(await response.json()).toMatchObject({ error: "invalid_request" });
});

test("its parameters are in the address that the browser is sent to, and nothing else", async () => {
  const fields = {
    state: "a &=?#\r\n\u00e4",
    post_logout_redirect_uri: "https://app.example.com/",
  };
  const response = await send("/session/end?client_id=x&logout=yes", form(fields));
  expect(response.status).toBe(303);
  expect(response.headers.get("cache-control")).toBe("no-store");
  expect(response.headers.getSetCookie()).toEqual([]);
  const to = new URL(response.headers.get("location") ?? "", iam.issuer);
  expect(`${to.origin}${to.pathname}`).toBe(`${iam.issuer}/session/end`);
  expect(Object.fromEntries(to.searchParams)).toEqual(fields);
});

test("a login that begins with a form ends as any other", async () => {
  const begun = await begin(web);
  const response = await send("/auth", begun.url.searchParams);
  const browser = new Browser(iam.origin);
  const to = new URL(response.headers.get("location") ?? "", iam.issuer);
  const visit = await enter(browser, await browser.open(to.href));
  const tokens = await redeem(web, visit.url, begun);
  expect(tokens.claims()?.sub).toBe(ALICE.id);
});

test("a form logs nobody out who does not confirm", async () => {
  const browser = new Browser(iam.origin);
  const tokens = await logIn(web, browser);
  const fields = { id_token_hint: tokens.id_token ?? "", logout: "yes", state: "s-1" };
  const bye = "https://app.example.com/bye";
  const response = await send("/session/end", form({ ...fields, post_logout_redirect_uri: bye }));
  const page = await browser.open(new URL(response.headers.get("location") ?? "", iam.issuer).href);
  expect(page.text).toContain("Log out?");
  await client.refreshTokenGrant(web, tokens.refresh_token ?? "");
  const back = await browser.submit(page, { logout: "yes" });
  expect(back.url).toBe(`${bye}?state=s-1`);
  await expect(client.refreshTokenGrant(web, tokens.refresh_token ?? "")).rejects.toMatchObject({
    error: "invalid_grant",
  });
});
