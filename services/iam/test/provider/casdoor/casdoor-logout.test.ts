import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { Browser } from "../../support/browser.ts";
import { whoIs } from "../../support/browser-login.ts";
import { IamWithCasdoor } from "../../support/casdoor/iam-with-casdoor.ts";

const LOGOUT = "/v1/iam/logout";

let it: IamWithCasdoor;
beforeAll(async () => {
  it = await IamWithCasdoor.start({
    iam: { browser_login: "self" },
    authn: { mode: "idp_jwt" },
  });
  const { origin } = it.iam;
  it.casdoor.redirectUris.push(`${origin}/v1/iam/oauth2/callback`, origin + LOGOUT);
});
afterAll(() => it.stop());
afterEach(() => it.reset());

/** A browser in which alice is logged in. */
async function loggedIn(): Promise<Browser> {
  const browser = new Browser(it.iam.origin);
  const login = await browser.open(`${it.iam.origin}/v1/iam/ui/login`);
  const callback = await it.casdoor.visit(login.url);
  await browser.open(callback.href);
  return browser;
}

/** Presses the button of the logout page. @returns where the browser goes then */
async function logOut(browser: Browser): Promise<string> {
  const { text } = await browser.open(it.iam.origin + LOGOUT);
  const token = /name="form_token" value="([^"]*)"/.exec(text)?.[1] ?? "";
  const body = new URLSearchParams({ form_token: token });
  const response = await browser.request(it.iam.origin + LOGOUT, { method: "POST", body });
  const refresh = response.headers.get("refresh")?.replace("0; url=", "");
  return refresh ?? response.headers.get("location") ?? "";
}

test("a browser logs in with Casdoor, and ends the session there and its tokens", async () => {
  const browser = await loggedIn();
  expect(await whoIs(it.iam, browser)).toBe("alice");
  const [record] = [...it.casdoor.oauth.records.values()].slice(-1);
  const accessToken = record?.accessToken ?? "";
  expect((await it.me(accessToken)).status).toBe(200);

  const next = await logOut(browser);
  expect(new URL(next).origin + new URL(next).pathname).toBe(`${it.casdoor.origin}/api/logout`);
  expect(await whoIs(it.iam, browser)).toBe(401);
  await expect
    .poll(async () => (await it.me(accessToken)).status, {
      message: "the token of the ended session is refused",
    })
    .toBe(401);
  // Casdoor finds the session by the record of the tokens, and ends both.
  const back = await it.casdoor.visit(next);
  expect(back.origin + back.pathname).toBe(it.iam.origin + LOGOUT);
  expect(it.casdoor.oauth.records.has(record?.name ?? "")).toBe(false);
});

test("a token without an id does not prevent the logout", async () => {
  it.casdoor.oauth.claims = { jti: "" };
  const browser = await loggedIn();
  expect(await logOut(browser)).toContain(`${it.casdoor.origin}/api/logout?`);
  expect(await whoIs(it.iam, browser)).toBe(401);
});
