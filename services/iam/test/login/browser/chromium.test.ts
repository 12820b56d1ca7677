/** People log in with a real Chromium, at one process without an edge. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import {
  Chromium,
  chromiumIsAbsent,
  type Profile,
} from "../../../../../test/support/browser/chromium.ts";
import { Tab } from "../../../../../test/support/browser/tab.ts";
import { databaseOf, SESSION, startSelf } from "../../support/browser-login.ts";
import type { IamService } from "../../support/iam-service.ts";
import { PASSWORD } from "../../support/memory-accounts.ts";
import { startTwoServices } from "../../support/two-services.ts";

const ME = "/v1/iam/me";
const LOGIN = "/v1/iam/ui/login";
const LOGOUT = "/v1/iam/logout";
const ACCOUNT = "/v1/iam/ui/account";
const BUTTON = 'button[value="login"]';

describe.skipIf(chromiumIsAbsent())("a person with Chromium", () => {
  let service: IamService;
  let browser: Chromium;
  let profile: Profile;
  let tab: Tab;
  beforeAll(async () => {
    service = await startSelf();
    browser = new Chromium("about:blank");
  });
  afterAll(async () => {
    await browser.close();
    await service.stop();
  });
  beforeEach(async () => {
    profile = await browser.until(browser.newProfile());
    tab = await Tab.open(browser, profile);
  });

  const at = (path: string) => `${service.origin}${path}`;
  const sessions = () =>
    databaseOf(service).kysely.selectFrom("iam_browser_sessions").selectAll().execute();

  async function logIn(username: string, password = PASSWORD): Promise<void> {
    await tab.enter('input[name="username"]', username);
    await tab.enter('input[name="password"]', password);
    await tab.click(BUTTON);
  }

  test("logs in after a wrong password, and comes to the page that was asked for", async () => {
    await tab.goTo(at(`${LOGIN}?return_to=${ME}`));
    await logIn("alice", "a wrong password");
    expect(await tab.text()).toContain("The user name or the password is wrong.");
    await logIn("alice");
    expect(await tab.url()).toBe(at(ME));
    expect(JSON.parse(await tab.text())).toMatchObject({ username: "alice" });
    const { cookies } = await browser.devTools.send("Storage.getCookies", profile);
    const found = cookies.filter(({ name }: { name: string }) => name.startsWith("__Host-"));
    expect(found).toEqual([
      expect.objectContaining({
        name: SESSION,
        domain: "localhost",
        path: "/",
        httpOnly: true,
        secure: true,
        sameSite: "Lax",
      }),
    ]);
  });

  test("cancels the login, and begins again", async () => {
    await tab.goTo(at(LOGIN));
    await tab.click('button[value="cancel"]');
    expect(await tab.text()).toContain("The login did not succeed");
    await tab.click("a");
    await logIn("alice");
    expect(await tab.url()).toBe(at(ACCOUNT));
    expect(await tab.text()).toContain("You are logged in as alice");
  });

  test("has two tabs that refresh at once, and both work", async () => {
    await tab.goTo(at(LOGIN));
    await logIn("alice");
    const { kysely } = databaseOf(service);
    await kysely.updateTable("iam_browser_sessions").set({ refresh_time: 1 }).execute();
    const before = await sessions();
    const other = await Tab.open(browser, profile);
    await Promise.all([tab.goTo(at(ME)), other.goTo(at(ME))]);
    for (const one of [tab, other]) {
      expect(JSON.parse(await one.text())).toMatchObject({ username: "alice" });
    }
    const after = await sessions();
    expect(after.map(({ tokens }) => tokens)).not.toEqual(before.map(({ tokens }) => tokens));
    // The new refresh token is good.
    await kysely.updateTable("iam_browser_sessions").set({ refresh_time: 1 }).execute();
    await tab.goTo(at(ME));
    expect(JSON.parse(await tab.text())).toMatchObject({ username: "alice" });
  });

  test("logs out, sees nothing by the back button, and logs in as somebody else", async () => {
    await tab.goTo(at(LOGIN));
    await logIn("alice");
    await tab.goTo(at(ME));
    await tab.goTo(at(ACCOUNT));
    const other = await Tab.open(browser, profile);
    await other.goTo(at(ACCOUNT));
    await tab.click(`a[href="${LOGOUT}"]`);
    await tab.click("button");
    expect([await tab.url(), await tab.text()]).toEqual([
      at(LOGOUT),
      expect.stringContaining("Logged out"),
    ]);
    let steps = 0;
    while (await tab.back()) {
      expect(await tab.text()).not.toContain("alice");
      steps++;
    }
    expect(steps).toBeGreaterThanOrEqual(2);
    // A click in the other tab.
    await other.goTo(at(ACCOUNT));
    expect(await other.text()).not.toContain("alice");
    await tab.goTo(at(`${LOGIN}?return_to=${ME}`));
    await logIn("bob");
    expect(JSON.parse(await tab.text())).toMatchObject({ username: "bob" });
  });

  describe("at the page of another site", () => {
    let attacker: Server;
    let page: string;
    beforeAll(async () => {
      attacker = createServer((request, response) => {
        response.setHeader("content-type", "text/html");
        response.end(
          `<form method="post" action="${at(new URL(request.url ?? "", "http://x").pathname)}">
             <input type="hidden" name="form_token" value="x"><button>Win</button></form>`,
        );
      });
      await new Promise<void>((resolve) => attacker.listen(0, "127.0.0.1", resolve));
      // Another site than localhost.
      page = `http://127.0.0.1:${(attacker.address() as AddressInfo).port}`;
    });
    afterAll(() => void attacker.close());

    test("is not logged out by its form", async () => {
      await tab.goTo(at(LOGIN));
      await logIn("alice");
      await tab.goTo(`${page}${LOGOUT}`);
      await tab.click("button");
      await tab.goTo(at(ME));
      expect(JSON.parse(await tab.text())).toMatchObject({ username: "alice" });
    });

    test("is asked by the provider, which knows the login after a form of a client", async () => {
      await tab.goTo(at(LOGIN));
      await logIn("alice");
      await tab.goTo(`${page}/v1/iam/oidc/session/end`);
      await tab.click("button");
      expect(await tab.url()).toBe(at("/v1/iam/oidc/session/end?form_token=x"));
      await tab.click('button[value="yes"]');
      expect(await tab.text()).toContain("Logged out");
      await tab.goTo(at(LOGIN));
      expect(await tab.text()).toContain("Password");
    });
  });

  test("logs in and out at a provider elsewhere", async () => {
    const two = await startTwoServices();
    try {
      const there = (path: string) => `${two.service.origin}${path}`;
      await tab.goTo(there(`${LOGIN}?return_to=${ME}`));
      expect(new URL(await tab.url()).origin).toBe(two.provider.origin);
      await logIn("alice");
      expect(await tab.url()).toBe(there(ME));
      expect(JSON.parse(await tab.text())).toMatchObject({ username: "alice" });
      await tab.goTo(there(LOGOUT));
      await tab.click("button");
      await tab.untilAt(`${two.provider.origin}/v1/iam/oidc/session/end`);
      await tab.click('button[value="yes"]');
      expect([(await tab.url()).split("?")[0], await tab.text()]).toEqual([
        there(LOGOUT),
        expect.stringContaining("Logged out"),
      ]);
      await tab.goTo(there(LOGIN));
      expect(await tab.text()).toContain("Password");
    } finally {
      await two.stop();
    }
  });
});
