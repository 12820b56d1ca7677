/** The pages of somebody who is logged in are in the language and the colors of the account. */
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { PreferenceStore } from "../../src/api/me/preferences.ts";
import german from "../../src/pages/messages/de.json" with { type: "json" };
import { Browser, fieldOf } from "../support/browser.ts";
import { logInBrowser, startSelf } from "../support/browser-login.ts";
import type { IamService } from "../support/iam-service.ts";

const CLIENT = "7a2f1c1e-0d6a-4bb1-8a5a-0d8c1ef1a0e2";
const ACCOUNT = "/v1/iam/oidc/account";

let iam: IamService;
/** Of alice, who has chosen German and dark colors, in a browser that wishes English. */
let alice: Browser;
beforeAll(async () => {
  const client = { id: CLIENT, name: "Console", flows: ["code", "device"] };
  iam = await startSelf({
    authn: { mode: "hybrid" },
    iam: { clients: [{ ...client, redirect_uris: ["https://app.example.com/callback"] }] },
    logLevel: "silent",
  });
  alice = new Browser(iam.origin);
  await logInBrowser(iam, alice);
  await prefer({ language: "de", theme: 3 });
});
afterAll(() => iam.stop());

const at = (path: string) => `${iam.origin}${path}`;
const ENGLISH = { "accept-language": "en-US,en;q=0.9" };

/** Saves preferences, as a person does. */
async function prefer({ language, theme }: { readonly language: string; readonly theme: number }) {
  const page = await alice.open(at(ACCOUNT));
  const fields = {
    form_token: fieldOf(page, "form_token"),
    action: "preferences",
    language,
    time_zone: "UTC",
    theme: `${theme}`,
  };
  const body = new URLSearchParams(fields);
  const saved = await alice.request(at(ACCOUNT), { method: "POST", body });
  expect(saved.status).toBe(303);
}

const send = (browser: Browser, [method, path]: readonly [string, string], headers = {}) =>
  browser.request(at(path), {
    method,
    headers: { ...ENGLISH, ...headers },
    ...(method === "POST" ? { body: new URLSearchParams() } : {}),
  });

const authorization = `/v1/iam/oidc/auth?${new URLSearchParams({
  client_id: CLIENT,
  response_type: "code",
  scope: "openid",
  redirect_uri: "https://app.example.com/callback",
  code_challenge: "a".repeat(43),
  code_challenge_method: "S256",
})}`;

/** The pages of the person, with their status and a text of them. */
const PAGES: readonly (readonly [string, string, number, keyof typeof german])[] = [
  ["GET", "/v1/iam/ui/account", 200, "Logged in"],
  ["GET", "/v1/iam/ui/login?return_to=//x", 400, "The address of the login is not valid"],
  ["GET", "/v1/iam/oauth2/callback?state=x", 400, "The login did not succeed"],
  ["GET", "/v1/iam/logout", 200, "Log out?"],
  ["POST", "/v1/iam/logout", 403, "The form has expired"],
  ["GET", "/v1/iam/ui/password-reset", 404, "The link does not work"],
  ["GET", "/v1/iam/ui/bootstrap?token=x", 404, "The link does not work"],
  ["GET", "/v1/iam/ui/none", 404, "There is no such page"],
  ["GET", "/v1/iam/oidc/none", 404, "There is no such page"],
  ["GET", `${ACCOUNT}/none`, 404, "There is no such page"],
  ["GET", "/v1/iam/oidc/session/end", 200, "Log out?"],
  ["POST", "/v1/iam/oidc/session/end/confirm", 403, "The form has expired"],
  ["GET", "/v1/iam/oidc/device", 200, "Log in on a device"],
  ["GET", "/v1/iam/oidc/auth?client_id=x", 400, "The request was refused"],
  ["POST", "/v1/iam/oidc/interaction/x", 400, "The login has expired"],
];

describe.each(PAGES)("%s %s", (method, path, status, text) => {
  test("is as its person has chosen [PAGE-3]", async () => {
    const response = await send(alice, [method, path]);
    const page = await response.text();
    expect([response.status, response.headers.get("content-language")]).toEqual([status, "de"]);
    expect(page).toContain('<html lang="de" data-theme="dark">');
    expect(page).toContain(german[text]);
  });

  test("is as the browser wants where nobody is logged in [PAGE-3]", async () => {
    const response = await send(new Browser(iam.origin), [method, path]);
    const page = await response.text();
    if (response.status !== 303) expect(page).toContain('<html lang="en">');
  });

  test("is as the client asks [PAGE-3]", async () => {
    const query = `${path.includes("?") ? "&" : "?"}ui_locales=en`;
    const page = await (await send(alice, [method, `${path}${query}`])).text();
    // A form that is sent has no parameters in its address.
    if (method === "GET") expect(page).toContain('<html lang="en" data-theme="dark">');
  });
});

test("the consent and the login of somebody who is logged in are in the language of the account [PAGE-3]", async () => {
  const consent = await alice.open(at(authorization), { headers: ENGLISH });
  expect(consent.text).toContain(german["Allow access?"]);
  const login = await alice.open(at(`${authorization}&prompt=login`), { headers: ENGLISH });
  expect(login.text).toContain(german["User name"]);
});

test("a preference of the colors alone leaves the language to the browser [PAGE-3]", async () => {
  const bob = new Browser(iam.origin);
  await logInBrowser(iam, bob, { username: "bob" });
  const body = JSON.stringify({ theme: "THEME_LIGHT" });
  const headers = { "content-type": "application/json", "sec-fetch-site": "same-origin" };
  const saved = await bob.request(at("/v1/iam/me/preferences"), { method: "PATCH", headers, body });
  expect(saved.status).toBe(200);
  for (const path of ["/v1/iam/logout", ACCOUNT, "/v1/iam/ui/none"]) {
    const page = await send(bob, ["GET", path], { "accept-language": "de" });
    expect(await page.text()).toContain('<html lang="de" data-theme="light">');
  }
});

describe("preferences that cannot be read", () => {
  const find = (work: () => Promise<never>) =>
    vi.spyOn(PreferenceStore.prototype, "find").mockImplementation(work);

  test.each(PAGES)("do not make %s %s fail", async (method, path, status) => {
    const spy = find(async () => Promise.reject(new Error("the database is gone")));
    try {
      const response = await send(alice, [method, path]);
      expect(response.status).toBe(status);
      expect(await response.text()).toContain('<html lang="en">');
      expect(spy).toHaveBeenCalledTimes(1);
    } finally {
      spy.mockRestore();
    }
  });

  test("do not make a page wait without end", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const spy = find(() => {
      // Whatever else waits is under way already.
      queueMicrotask(() => vi.advanceTimersByTime(5000));
      return new Promise<never>(() => undefined);
    });
    try {
      const response = await send(alice, ["GET", "/v1/iam/logout"]);
      expect(await response.text()).toContain('<html lang="en">');
    } finally {
      spy.mockRestore();
      vi.useRealTimers();
    }
  });
});

test("answers other than pages read no preferences", async () => {
  const spy = vi.spyOn(PreferenceStore.prototype, "find");
  const json = { accept: "application/json" };
  const rows: readonly (readonly [readonly [string, string], object, number])[] = [
    [["GET", "/v1/iam/me"], {}, 200],
    [["GET", "/v1/iam/none"], {}, 404],
    [["GET", "/v1/iam/ui/none"], json, 404],
    [["GET", "/v1/iam/oidc/none"], json, 404],
    [["POST", "/v1/iam/logout"], json, 403],
    [["POST", "/v1/iam/oidc/token"], {}, 401],
    [["GET", "/v1/iam/oidc/jwks"], {}, 200],
    [["GET", "/v1/iam/ui/icon"], {}, 200],
    [["OPTIONS", ACCOUNT], {}, 204],
    [["GET", "/v1/iam/ui/login"], {}, 303],
    [["GET", `${ACCOUNT}?code=x`], {}, 303],
    [["GET", authorization], {}, 303],
  ];
  for (const [to, headers, status] of rows) {
    const response = await send(alice, to, headers);
    expect([...to, response.status]).toEqual([...to, status]);
    await response.arrayBuffer();
  }
  expect(spy).not.toHaveBeenCalled();
  spy.mockRestore();
});
