/** Who goes back to the page of a login that is over, and sends its form again. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { ClientDeclaration } from "../../src/provider/embedded/client-declaration.ts";
import { Browser, type Visit } from "../support/browser.ts";
import { logInBrowser, startSelf } from "../support/browser-login.ts";
import { PASSWORD } from "../support/memory-accounts.ts";
import {
  begin,
  CONSOLE,
  enter,
  type RunningProvider,
  startProvider,
} from "../support/provider-server.ts";

const ASKING: ClientDeclaration = { ...CONSOLE, id: randomUUID(), asksConsent: true };
const clients = [CONSOLE, ASKING];
const current = {
  all: clients,
  find: (id: string) => clients.find((client) => client.id === id),
};

let iam: RunningProvider;
beforeAll(async () => {
  iam = await startProvider({ clients });
});
afterAll(() => iam.stop());

/** The links of a page, with their texts. */
function linksOf({ text }: Visit): readonly (readonly [string, string])[] {
  return [...text.matchAll(/<a class="button[^"]*" href="([^"]*)"[^>]*>(.*?)<\/a>/g)].map(
    ([, url = "", name = ""]) => [url, name],
  );
}

const ACCOUNT = ["/v1/iam/oidc/account", "Your account"] as const;
const START = [
  "https://app.example.com/",
  "Continue to <bdi>Console &amp; &lt;Co&gt;</bdi>",
] as const;

async function loginPage(browser: Browser, declared = CONSOLE, parameters = {}): Promise<Visit> {
  return browser.open((await begin(await iam.configure(declared), parameters)).url.href);
}

/** Loads the page again, and sends its form. */
async function goBack(browser: Browser, page: Visit, fields = {}): Promise<readonly Visit[]> {
  return [await browser.open(page.url), await enter(browser, page, fields)];
}

test("after the login, it leads on to the client", async () => {
  const browser = new Browser(iam.origin);
  const page = await loginPage(browser);
  expect((await enter(browser, page)).url).toContain("code=");
  const visits = await goBack(browser, page, { password: "another one" });
  const before = await iam.events("login.succeeded");
  for (const visit of visits) {
    expect([visit.status, visit.url]).toEqual([200, page.url]);
    expect(visit.text).toContain("You are already logged in");
    expect(linksOf(visit)).toEqual([START, ACCOUNT]);
  }
  // The form is not read again.
  expect(await iam.events("login.succeeded")).toEqual(before);
  expect(await iam.events("login.failed")).toEqual([]);
});

test("after the consent, too", async () => {
  const browser = new Browser(iam.origin);
  const page = await enter(browser, await loginPage(browser, ASKING));
  expect(page.text).toContain("Allow access?");
  await browser.submit(page, { action: "consent" });
  const again = await browser.submit(page, { action: "consent" });
  expect([again.status, linksOf(again)]).toEqual([200, [START, ACCOUNT]]);
});

test("a form whose login is completed while its password is checked is not a failure", async () => {
  const browser = new Browser(iam.origin);
  const page = await loginPage(browser);
  const { authenticate } = iam.accounts;
  const held = vi.spyOn(iam.accounts, "authenticate").mockImplementationOnce(async (attempt) => {
    held.mockRestore();
    expect((await enter(browser, page)).url).toContain("code=");
    return authenticate.call(iam.accounts, attempt);
  });
  const late = await enter(browser, page);
  expect([late.status, late.text]).toEqual([400, expect.stringContaining("The login has expired")]);
});

test("a login that another request has completed does not blame the application", async () => {
  const browser = new Browser(iam.origin);
  const page = await loginPage(browser, ASKING);
  const sent = await browser.send(page, {
    action: "login",
    username: "alice",
    password: PASSWORD,
  });
  await browser.open(sent.next);
  const again = await browser.open(sent.next);
  expect([again.status, again.text]).toEqual([
    400,
    expect.stringContaining("The login has expired. Go back to the application, and log in again."),
  ]);
  expect(again.text).toContain("<code>invalid_request</code>");
});

test("of an address of several, it leads to the site of this one", async () => {
  const browser = new Browser(iam.origin);
  const page = await loginPage(browser, CONSOLE, {
    redirect_uri: "http://localhost:3001/callback",
  });
  await enter(browser, page);
  for (const visit of await goBack(browser, page)) {
    expect(linksOf(visit)).toEqual([["http://localhost:3001/", START[1]], ACCOUNT]);
  }
});

test("after a login that was cancelled, or whose session has ended, it can begin again", async () => {
  const browser = new Browser(iam.origin);
  const cancelled = await loginPage(browser);
  await browser.submit(cancelled, { action: "cancel" });
  const visits = [...(await goBack(browser, cancelled))];
  // Somebody who is logged in already has cancelled it all the same.
  const known = new Browser(iam.origin);
  await enter(known, await loginPage(known));
  const asked = await loginPage(known, CONSOLE, { prompt: "login" });
  await known.submit(asked, { action: "cancel" });
  visits.push(...(await goBack(known, asked)));
  const other = new Browser(iam.origin);
  const page = await loginPage(other);
  await enter(other, page);
  await other.submit(await other.open(`${iam.issuer}/session/end`), { logout: "yes" });
  visits.push(...(await goBack(other, page)));
  for (const visit of visits) {
    expect([visit.status, visit.text]).toEqual([
      400,
      expect.stringContaining("The login has expired"),
    ]);
    expect(linksOf(visit)).toEqual([START, ACCOUNT]);
  }
});

test("in another browser it says nothing of the login, and logs nobody in", async () => {
  const browser = new Browser(iam.origin);
  const page = await loginPage(browser);
  await enter(browser, page);
  const other = new Browser(iam.origin);
  await enter(other, await loginPage(other));
  const name = "iam_completed";
  other.setCookie(name, browser.cookie(name) ?? expect.fail(), "/v1/iam/oidc/interaction");
  for (const visit of await goBack(other, page)) {
    expect([visit.status, linksOf(visit)]).toEqual([400, [ACCOUNT]]);
  }
});

test("the page of another login is not that of the one that was completed", async () => {
  const browser = new Browser(iam.origin);
  const page = await loginPage(browser);
  await enter(browser, page);
  const cookie = browser.cookie("iam_completed") ?? expect.fail();
  browser.setCookie("iam_completed", cookie, "/v1/iam/oidc/interaction");
  for (const uid of ["x", `${page.url.split("/").at(-1)}x`, "", "%2e"]) {
    const visit = await browser.open(`${iam.issuer}/interaction/${uid}`);
    expect(visit.text).not.toContain("You are already logged in");
    expect(visit.text).not.toContain(START[0]);
  }
});

test("a client that no longer has the address is not led to", async () => {
  const own = await startProvider({ clients: current as never });
  const browser = new Browser(own.origin);
  const page = await browser.open((await begin(await own.configure(CONSOLE))).url.href);
  await enter(browser, page);
  const at = clients.indexOf(CONSOLE);
  clients.splice(at, 1, { ...CONSOLE, redirectUris: ["https://new.example.com/callback"] });
  expect(linksOf(await browser.open(page.url))).toEqual([ACCOUNT]);
  clients.splice(at, 1, CONSOLE);
  await own.stop();
});

test("at the service itself, it leads to the account and to the login of the service", async () => {
  const service = await startSelf();
  const browser = new Browser(service.origin);
  const account = await browser.open(`${service.origin}/v1/iam/oidc/account`);
  const form = { action: "login", username: "alice", password: PASSWORD };
  await browser.submit(account, form);
  const again = await browser.submit(account, form);
  expect([again.status, linksOf(again)]).toEqual([200, [ACCOUNT]]);
  const other = new Browser(service.origin);
  const page = await other.open(`${service.origin}/v1/iam/ui/login`);
  await other.submit(page, form);
  expect((await logInBrowser(service, other)).status).not.toBe(400);
  const visit = await other.submit(page, form);
  expect(linksOf(visit)).toEqual([
    ["/v1/iam/ui/login", "Continue to <bdi>Identity and access</bdi>"],
    ACCOUNT,
  ]);
  await service.stop();
});
