/** People see and change their own account with a real Chromium, without scripts. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { Chromium, chromiumIsAbsent } from "../../../../test/support/browser/chromium.ts";
import { Tab } from "../../../../test/support/browser/tab.ts";
import { addUser, databaseOf, startSelf } from "../support/browser-login.ts";
import type { IamService } from "../support/iam-service.ts";
import { PASSWORD } from "../support/memory-accounts.ts";
import { auditPage } from "../support/pages/page-audit.ts";

const ACCOUNT = "/v1/iam/oidc/account";
const NEW = "eleven purple walruses sang";

describe.skipIf(chromiumIsAbsent())("a person with Chromium [PAGE-2, PAGE-4]", () => {
  let iam: IamService;
  let browser: Chromium;
  let tab: Tab;
  beforeAll(async () => {
    iam = await startSelf();
    for (const name of ["carol", "dave", "erin"]) await addUser(iam, name);
    browser = new Chromium("about:blank");
  });
  afterAll(async () => {
    await browser.close();
    await iam.stop();
  });
  beforeEach(async () => {
    tab = await newTab();
  });

  const at = (path: string) => `${iam.origin}${path}`;
  const newTab = async () => {
    const opened = await Tab.open(browser, await browser.until(browser.newProfile()));
    await opened.allowScripts(false);
    return opened;
  };
  async function logIn(username: string, password = PASSWORD, one = tab): Promise<void> {
    await one.enter('input[name="username"]', username);
    await one.enter('input[name="password"]', password);
    await one.click('button[value="login"]');
  }

  test("logs in on the way to the account, and changes profile and preferences [PAGE-1, PAGE-3, PAGE-9]", async () => {
    await tab.goTo(at(ACCOUNT));
    await logIn("alice");
    expect(await tab.url()).toBe(at(ACCOUNT));
    await auditPage(tab, "account");
    await tab.enter('input[name="display_name"]', "\u0007");
    await tab.click('button[value="profile"]');
    expect(await tab.text()).toContain("The name must not contain control characters.");
    await auditPage(tab, "account problem");
    await tab.enter('input[name="display_name"]', "Alice Liddell");
    await tab.click('button[value="profile"]');
    expect(await tab.text()).toContain("Your profile was saved.");
    await tab.evaluate(`document.querySelector("#language").value = "de"`);
    await tab.evaluate(`document.querySelector("#theme").value = "3"`);
    await tab.evaluate(`document.querySelector("#time_zone").value = "Europe/Berlin"`);
    await tab.click('button[value="preferences"]');
    expect(await tab.text()).toContain("Ihre Einstellungen wurden gespeichert.");
    await auditPage(tab, "account in German and dark");
    expect(await tab.evaluate("document.documentElement.dataset.theme")).toBe("dark");
    expect(await tab.evaluate(`document.querySelector("#display_name").value`)).toBe(
      "Alice Liddell",
    );
  });

  test("changes the password, which ends other sessions [PAGE-9]", async () => {
    await tab.goTo(at(ACCOUNT));
    await logIn("carol");
    const other = await newTab();
    await other.goTo(at(ACCOUNT));
    await logIn("carol", PASSWORD, other);
    await tab.goTo(at(`${ACCOUNT}/password`));
    await auditPage(tab, "password");
    const change = async (current: string, next: string) => {
      await tab.enter('input[name="current"]', current);
      for (const name of ["password", "repeated"]) await tab.enter(`input[name="${name}"]`, next);
      await tab.click("button");
      return tab.text();
    };
    expect(await change("a wrong password", NEW)).toContain("The current password is wrong.");
    await auditPage(tab, "password problem");
    expect(await change(PASSWORD, NEW)).toContain("Your password was changed.");
    await other.goTo(at(ACCOUNT));
    expect(await other.text()).toContain("Log in");
    await logIn("carol", NEW, other);
    expect(await other.url()).toBe(at(ACCOUNT));
  });

  test("ends the session of another browser, which must log in again [PAGE-9, PAGE-10]", async () => {
    await tab.goTo(at(ACCOUNT));
    await logIn("dave");
    const other = await newTab();
    await other.goTo(at(ACCOUNT));
    await logIn("dave", PASSWORD, other);
    await tab.goTo(at(`${ACCOUNT}/sessions`));
    expect(await tab.text()).toContain("(this one)");
    expect(await tab.text()).toContain("Chrome on ");
    await auditPage(tab, "sessions");
    await tab.click('button[value="all"]');
    expect(await tab.text()).toContain("All your other sessions have ended.");
    // The profile, which was open there all the time.
    await other.click('button[value="profile"]');
    expect(await other.text()).toContain("What you sent was not done.");
    await auditPage(other, "login ended");
    await other.goTo(at(`${ACCOUNT}/sessions`));
    expect(await other.text()).toContain("to continue to");
    // The way back is the page that was asked for.
    await logIn("dave", PASSWORD, other);
    expect(await other.url()).toBe(at(`${ACCOUNT}/sessions`));
  });

  test("must log in again when the session has expired, and cannot as a disabled user [PAGE-10]", async () => {
    await tab.goTo(at(ACCOUNT));
    await logIn("erin");
    const { kysely } = databaseOf(iam);
    await kysely.updateTable("iam_provider_documents").set({ expire_time: 1 }).execute();
    await tab.goTo(at(ACCOUNT));
    expect(await tab.text()).toContain("to continue to");
    await kysely
      .updateTable("iam_users")
      .set({ disabled: 1 })
      .where("username", "=", "erin")
      .execute();
    await logIn("erin");
    expect(await tab.text()).toContain("The user name or the password is wrong.");
    await auditPage(tab, "login problem");
    await tab.click('button[value="cancel"]');
    expect(await tab.text()).toContain("You are not logged in");
    await auditPage(tab, "not logged in");
  });

  test("confirms a login of long ago, or stays logged in without it [PAGE-9]", async () => {
    await tab.goTo(at(ACCOUNT));
    await logIn("carol", NEW);
    const login = await fetch(at(ACCOUNT), { redirect: "manual" });
    const again = `${login.headers.get("location")}&max_age=1`;
    // Until the login is a second old, it leads back.
    do await tab.goTo(again);
    while ((await tab.url()) === at(ACCOUNT));
    expect(await tab.text()).toContain("You are logged in, but for too long for this.");
    expect(await tab.evaluate(`document.querySelector("#username").value`)).toBe("carol");
    expect(await tab.evaluate("document.activeElement.name")).toBe("password");
    await auditPage(tab, "login again");
    await tab.click('button[value="cancel"]');
    expect([await tab.url(), await tab.text()]).toEqual([
      at(ACCOUNT),
      expect.stringContaining("Save the profile"),
    ]);
    await tab.goTo(again);
    await tab.enter('input[name="password"]', NEW);
    await tab.click('button[value="login"]');
    expect(await tab.url()).toBe(at(ACCOUNT));
  });

  test("logs out from the account", async () => {
    await tab.goTo(at(ACCOUNT));
    await logIn("alice");
    await tab.click("nav li:last-child a");
    await auditPage(tab, "log out");
    await tab.click('button[value="yes"]');
    expect(await tab.text()).toContain("Logged out");
    await auditPage(tab, "logged out");
    await tab.goTo(at(ACCOUNT));
    expect(await tab.text()).toContain("to continue to");
  });
});
