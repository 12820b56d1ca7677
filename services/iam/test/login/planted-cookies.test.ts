/**
 * A host beside this one, such as evil.example.com beside iam.example.com, can give browsers cookies of the
 * provider (`Domain=example.com`). None of them makes a login continue in another browser.
 */
import { randomUUID } from "node:crypto";
import * as client from "openid-client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { EncryptionKeys } from "../../src/ground/secrets/encryption-keys.ts";
import { SecretBox } from "../../src/ground/secrets/secret-box.ts";
import { totpCode } from "../../src/people/factors/one-time-codes.ts";
import { hash, sealedPlace } from "../../src/provider/embedded/adapter/sealed-documents.ts";
import { Browser, type Visit } from "../support/browser.ts";
import { addUser, logInBrowser, startSelf, userId, whoIs } from "../support/browser-login.ts";
import { addFactor } from "../support/factors.ts";
import { ALICE, PASSWORD } from "../support/memory-accounts.ts";
import {
  begin,
  CONSOLE,
  enter,
  KEYS,
  logIn,
  type RunningProvider,
  redeem,
  startProvider,
  stopAll,
  TV,
} from "../support/provider-server.ts";

const BOB = { ...ALICE, id: randomUUID(), username: "bob" };
const SESSION = "iam_session";
const BROWSER = "iam_browser";

let iam: RunningProvider;
let web: client.Configuration;
let tv: client.Configuration;
let attacker: Browser;
let victim: Browser;
beforeAll(async () => {
  iam = await startProvider({ clients: [CONSOLE, TV] });
  iam.accounts.add(BOB);
  [web, tv] = [await iam.configure(CONSOLE), await iam.configure(TV)];
});
afterAll(stopAll);

/** What a sibling host can do: all cookies but those with the prefix `__Host-`. */
function plant(from: Browser, into: Browser, names = from.names()): void {
  for (const name of names) {
    if (name === BROWSER || name.startsWith("__Host-")) continue;
    into.setCookie(name, from.cookie(name) ?? "");
  }
}

function newBrowsers(origin = iam.origin): void {
  attacker = new Browser(origin);
  victim = new Browser(origin);
}

/** The victim has the attacker's page of a login, and its cookies. Nothing of the attacker's goes on by it. */
async function isRefused(page: Visit, fields: Readonly<Record<string, string>>): Promise<void> {
  plant(attacker, victim);
  const shown = await victim.open(page.url);
  expect([shown.status, shown.text]).toEqual([400, expect.stringContaining("has expired")]);
  const sent = await victim.submit(page, fields);
  expect([sent.status, sent.text]).toEqual([400, expect.stringContaining("has expired")]);
}

const asAlice = { action: "login", username: "alice", password: PASSWORD };
const uidOf = ({ url }: Visit) => url.split("/").at(-1) ?? "";

test("a login of another browser is not completed, and gives that one nothing [IDP-18]", async () => {
  newBrowsers();
  const page = await attacker.open((await begin(web)).url.href);
  const before = iam.accounts.attempts.length;
  await isRefused(page, asAlice);
  expect(iam.accounts.attempts.length).toBe(before);
  const resumed = await attacker.open(`${iam.issuer}/auth/${uidOf(page)}`);
  expect(resumed.url).not.toContain("code=");
  expect(attacker.cookie(SESSION)).toBeUndefined();
});

test("nor in a browser that is at the provider already, and has a page of its own", async () => {
  newBrowsers();
  const own = await victim.open((await begin(web)).url.href);
  await isRefused(await attacker.open((await begin(web)).url.href), asAlice);
  // The own cookies have longer paths than planted ones may have without the id, so they come first.
  victim.setCookie("iam_interaction", uidOf(own), new URL(own.url).pathname);
  victim.setCookie("iam_resume", uidOf(own), `/v1/iam/oidc/auth/${uidOf(own)}`);
  expect((await enter(victim, own)).url).toContain("code=");
});

test("a login that another browser has completed logs nobody in here [IDP-18]", async () => {
  newBrowsers();
  const page = await attacker.open((await begin(web)).url.href);
  const body = new URLSearchParams({ ...asAlice, form_token: tokenOf(page) });
  const done = await attacker.request(page.url, { method: "POST", body });
  expect(done.status).toBe(303);
  plant(attacker, victim);
  const resumed = await victim.open(done.headers.get("location") ?? "");
  expect(resumed.status).toBe(400);
  const next = await victim.open((await begin(web)).url.href);
  expect(next.text).toContain('name="password"');
  // Where it began, it continues.
  expect((await attacker.open(done.headers.get("location") ?? "")).url).toContain("code=");
});

test("a session of another browser is nobody's, and does not become that of who logs in", async () => {
  newBrowsers();
  await logIn(web, attacker);
  plant(attacker, victim, [SESSION]);
  const begun = await begin(web);
  const page = await victim.open(begun.url.href);
  expect(page.text).toContain('name="password"');
  const back = await enter(victim, page, { username: "bob" });
  const tokens = await redeem(web, back.url, begun);
  expect(tokens.claims()?.sub).toBe(BOB.id);
  expect(victim.cookie(SESSION)).not.toBe(attacker.cookie(SESSION));
  expect((await logIn(web, attacker)).claims()?.sub).toBe(ALICE.id);
});

test("a session without a login that another browser has planted does not become a login of it", async () => {
  newBrowsers();
  await attacker.open(`${iam.issuer}/device`);
  plant(attacker, victim, [SESSION]);
  await logIn(web, victim);
  const page = await attacker.open((await begin(web)).url.href);
  expect(page.text).toContain('name="password"');
});

test("a device is not approved by a login that another browser has begun [IDP-18]", async () => {
  newBrowsers();
  const begun = await client.initiateDeviceAuthorization(tv, { scope: "openid" });
  const form = await attacker.submit(
    await attacker.open(begun.verification_uri_complete ?? ""),
    {},
  );
  const page = await attacker.submit(form, { confirm: "yes" });
  expect(page.text).toContain('name="password"');
  await isRefused(page, asAlice);
  const resumed = await attacker.open(`${iam.issuer}/device/${uidOf(page)}`);
  expect(resumed.text).not.toContain("The device is logged in");
  const poll = client.genericGrantRequest(tv, "urn:ietf:params:oauth:grant-type:device_code", {
    device_code: begun.device_code,
  });
  await expect(poll).rejects.toMatchObject({ error: "authorization_pending" });
});

test("a device is approved in one browser with the session of that one alone", async () => {
  newBrowsers();
  await logIn(web, attacker);
  const begun = await client.initiateDeviceAuthorization(tv, { scope: "openid" });
  const form = await attacker.open(begun.verification_uri_complete ?? "");
  plant(attacker, victim);
  const sent = await victim.submit(form, {});
  expect(sent.text).not.toContain("Log in on this device?");
});

test("the form of a logout that another browser has got ends no login here", async () => {
  newBrowsers();
  await logIn(web, attacker);
  const form = await attacker.open(`${iam.issuer}/session/end`);
  expect(form.text).toContain("Log out?");
  await logIn(web, victim);
  const own = victim.cookie(SESSION) ?? "";
  plant(attacker, victim, [SESSION]);
  const sent = await victim.submit(form, { logout: "yes" });
  // With the session of another browser nobody is logged in.
  expect([sent.status, sent.text]).toEqual([200, expect.stringContaining("Logged out")]);
  // Nor with the own cookie, which a sibling host does not know, yet makes the browser send.
  victim.setCookie(SESSION, own);
  expect((await victim.submit(form, { logout: "yes" })).status).toBe(403);
  expect((await victim.open((await begin(web)).url.href)).url).toContain("code=");
  expect((await attacker.open((await begin(web)).url.href)).url).toContain("code=");
});

test("the form of a device that another browser has got is refused with its cookies", async () => {
  newBrowsers();
  const begun = await client.initiateDeviceAuthorization(tv, { scope: "openid" });
  const form = await attacker.open(`${iam.issuer}/device`);
  plant(attacker, victim, [SESSION]);
  const sent = await victim.submit(form, { user_code: begun.user_code });
  expect([sent.status, sent.text]).toEqual([403, expect.stringContaining("The form has expired")]);
});

test("nor does that of the logout of browsers", async () => {
  const service = await startSelf();
  newBrowsers(service.origin);
  await logInBrowser(service, attacker, { username: "bob" });
  await logInBrowser(service, victim);
  const form = await attacker.open(`${service.origin}/v1/iam/logout`);
  plant(attacker, victim);
  expect((await victim.submit(form, {})).status).toBe(403);
  expect(await whoIs(service, victim)).toBe("alice");
  await service.stop();
});

describe("with a second factor", () => {
  test("the code that the victim enters completes no login of somebody else [FACTOR-1]", async () => {
    const service = await startSelf();
    await addUser(service, "carol");
    newBrowsers(service.origin);
    const id = await userId(service, "carol");
    const secret = await addFactor(service, id);
    const start = `${service.origin}/v1/iam/ui/login`;
    const page = await attacker.submit(await attacker.open(start), {
      ...asAlice,
      username: "carol",
    });
    expect(page.text).toContain("Confirm that it is you");
    const code = totpCode(secret, Math.floor(Date.now() / 30_000));
    await isRefused(page, { action: "code", code });
    const resumed = await attacker.open(`${service.origin}/v1/iam/oidc/auth/${uidOf(page)}`);
    expect(resumed.text).not.toContain("You are logged in");
    expect(attacker.names()).not.toContain("__Host-iam_login");
    // The code was not used: in a login of the victim's own it is good.
    const own = await victim.submit(await victim.open(start), { ...asAlice, username: "carol" });
    const done = await victim.submit(own, { action: "code", code });
    expect(done.text).toContain("You are logged in as <strong><bdi>carol</bdi></strong>");
    await service.stop();
  });

  test("a session of another browser opens no account", async () => {
    const service = await startSelf();
    newBrowsers(service.origin);
    const account = `${service.origin}/v1/iam/oidc/account`;
    const page = await attacker.submit(await attacker.open(account), asAlice);
    expect(page.url).toBe(account);
    plant(attacker, victim);
    expect((await victim.open(account)).text).toContain('name="password"');
    await service.stop();
  });
});

describe("the identity of a browser", () => {
  test("is a cookie that no other host can set and no script reads", async () => {
    const secure = await startProvider({ publicUrl: "https://iam.example.com" });
    const path = new URL((await begin(web)).url).search;
    const response = await fetch(`${secure.origin}/v1/iam/oidc/auth${path}`, {
      redirect: "manual",
    });
    const cookie = response.headers.getSetCookie().find((line) => line.includes("iam_browser"));
    expect(cookie).toMatch(
      /^__Host-iam_browser=[\w-]{43}; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Lax; Secure$/,
    );
    await secure.stop();
  });

  test("stays when logins begin and end, and is renewed with each", async () => {
    const browser = new Browser(iam.origin);
    await logIn(web, browser);
    const before = browser.cookie(BROWSER);
    const lines = browser.lines.length;
    await logIn(web, browser);
    expect(browser.cookie(BROWSER)).toBe(before);
    expect(browser.lines.slice(lines).join("\n")).toContain(`${BROWSER}=${before}; Max-Age=`);
  });

  test("is of several logins at a time", async () => {
    const browser = new Browser(iam.origin);
    const [first, second] = [await begin(web), await begin(web)];
    const pages = [await browser.open(first.url.href), await browser.open(second.url.href)];
    for (const [at, begun] of [first, second].entries()) {
      const page = pages[at] as Visit;
      const id = uidOf(page);
      browser.setCookie("iam_interaction", id, new URL(page.url).pathname);
      browser.setCookie("iam_resume", id, `/v1/iam/oidc/auth/${id}`);
      const back = await enter(browser, page);
      expect((await redeem(web, back.url, begun)).claims()?.sub).toBe(ALICE.id);
    }
  });

  test("is given to no answer that begins nothing", async () => {
    for (const path of ["/jwks", "/.well-known/openid-configuration", "/interaction/x"]) {
      expect((await fetch(`${iam.issuer}${path}`)).headers.getSetCookie()).toEqual([]);
    }
  });

  test.each(["", "x", "a".repeat(42), "a".repeat(44), "ä".repeat(43), "__proto__"])(
    "is made anew in place of %j",
    async (value) => {
      const browser = new Browser(iam.origin);
      browser.setCookie(BROWSER, encodeURIComponent(value));
      await logIn(web, browser);
      expect(browser.cookie(BROWSER)).toMatch(/^[\w-]{43}$/);
    },
  );

  test("that comes twice is refused", async () => {
    const browser = new Browser(iam.origin);
    const page = await browser.open((await begin(web)).url.href);
    const own = `${BROWSER}=${browser.cookie(BROWSER)}`;
    const cookie = `iam_interaction=${uidOf(page)}; ${own}; ${BROWSER}=${"a".repeat(43)}`;
    const { href } = (await begin(web)).url;
    for (const url of [
      page.url,
      href,
      `${iam.issuer}/auth/${uidOf(page)}`,
      `${iam.issuer}/device`,
    ]) {
      const response = await browser.request(url, { headers: { cookie } });
      expect([url, response.status]).toEqual([url, 400]);
      expect(await response.text()).not.toContain("<form");
    }
  });

  test("that a browser does not keep ends in a page that says so", async () => {
    const { href } = (await begin(web)).url;
    const begun = await new Browser(iam.origin).request(href);
    const at = new URL(begun.headers.get("location") ?? "", iam.origin);
    const page = await new Browser(iam.origin).open(at.href);
    expect([page.status, page.text]).toEqual([
      400,
      expect.stringContaining("log in again. Cookies must be allowed."),
    ]);
  });
});

test("a session and a login from before browsers had an identity are begun again", async () => {
  const browser = new Browser(iam.origin);
  await logIn(web, browser);
  const identity = hash(browser.cookie(BROWSER) ?? "");
  await withoutBrowser("Session", browser.cookie(SESSION) ?? "", identity);
  const begun = await begin(web);
  const page = await browser.open(begun.url.href);
  expect(page.text).toContain('name="password"');
  await withoutBrowser("Interaction", uidOf(page), identity);
  const sent = await enter(browser, page);
  expect([sent.status, sent.text]).toEqual([400, expect.stringContaining("log in again")]);
  expect((await logIn(web, browser)).claims()?.sub).toBe(ALICE.id);
});

/** Stores a document as the version before did. */
async function withoutBrowser(model: string, secret: string, identity: string): Promise<void> {
  const box = new SecretBox(EncryptionKeys.parse(KEYS));
  const { kysely } = iam.database.open() as any;
  const id = hash(secret);
  const rows = kysely.selectFrom("iam_provider_documents").select("payload").where("id", "=", id);
  const { payload } = await rows.executeTakeFirstOrThrow();
  const { browser, ...before } = JSON.parse(box.open(payload, sealedPlace(model, id)));
  expect(browser).toBe(identity);
  await kysely
    .updateTable("iam_provider_documents")
    .set({ payload: box.seal(JSON.stringify(before), sealedPlace(model, id)) })
    .where("id", "=", id)
    .execute();
}

function tokenOf({ text }: Visit): string {
  return /name="form_token" value="([^"]*)"/.exec(text)?.[1] ?? "";
}
