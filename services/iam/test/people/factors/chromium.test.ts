/** People log in with second factors and passkeys, in a real Chromium with a virtual authenticator. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { Chromium, chromiumIsAbsent } from "../../../../../test/support/browser/chromium.ts";
import { Tab } from "../../../../../test/support/browser/tab.ts";
import { totpCode } from "../../../src/people/factors/one-time-codes.ts";
import { addUser, databaseOf, startSelf } from "../../support/browser-login.ts";
import { wrongCode } from "../../support/factors.ts";
import type { IamService } from "../../support/iam-service.ts";
import { PASSWORD } from "../../support/memory-accounts.ts";
import { auditPage } from "../../support/pages/page-audit.ts";

const ACCOUNT = "/v1/iam/oidc/account";
const FACTORS = `${ACCOUNT}/factors`;

describe.skipIf(chromiumIsAbsent())("a person with Chromium [PAGE-2]", () => {
  let iam: IamService;
  let browser: Chromium;
  let tab: Tab;
  beforeAll(async () => {
    iam = await startSelf();
    await addUser(iam, "carol");
    browser = new Chromium("about:blank");
  });
  afterAll(async () => {
    await browser.close();
    await iam.stop();
  });
  beforeEach(async () => {
    tab = await Tab.open(browser, await browser.until(browser.newProfile()));
  });

  const at = (path: string) => `${iam.origin}${path}`;
  async function logIn(username: string, path = ACCOUNT): Promise<void> {
    await tab.goTo(at(path));
    await tab.enter('input[name="username"]', username);
    await tab.enter('input[name="password"]', PASSWORD);
    await tab.click('button[value="login"]');
  }
  async function logOut(): Promise<void> {
    await tab.goTo(at("/v1/iam/oidc/session/end"));
    await tab.click('button[value="yes"]');
  }
  const nextCode = (secret: string) => totpCode(secret, Math.floor(Date.now() / 30_000) + 1);
  /** A code counts once, and the next one is another half a minute away. */
  const forgetCodes = () =>
    databaseOf(iam).kysely.updateTable("iam_second_factors").set({ counter: 0 }).execute();
  const codesOf = async () =>
    (
      await tab.evaluate<string>(
        '[...document.querySelectorAll(".codes li")].map((one) => one.innerText).join()',
      )
    ).split(",");

  test("adds an app without scripts, and logs in with its code and with a recovery code [FACTOR-1, FACTOR-2, PAGE-4]", async () => {
    await tab.allowScripts(false);
    await logIn("alice", FACTORS);
    await auditPage(tab, "factors none");
    await tab.click('button[value="new_app"]');
    await auditPage(tab, "add app");
    const shown = () => tab.evaluate<string>('document.querySelector("main p code").innerText');
    const secret = (await shown()).replaceAll(" ", "");
    await tab.enter('input[name="code"]', wrongCode(secret));
    await tab.click('button[value="app"]');
    expect(await tab.text()).toContain("The code is wrong.");
    expect((await shown()).replaceAll(" ", "")).toBe(secret);
    const used = nextCode(secret);
    await tab.enter('input[name="code"]', used);
    await tab.click('button[value="app"]');
    await auditPage(tab, "recovery codes");
    const codes = await codesOf();
    expect(codes).toHaveLength(10);
    await tab.goTo(at(FACTORS));
    expect(await tab.text()).toContain("You have 10 codes that were not used.");
    await auditPage(tab, "factors");

    await logOut();
    await logIn("alice");
    expect(await tab.text()).toContain("Confirm that it is you");
    await auditPage(tab, "second factor");
    await tab.enter('input[name="code"]', used);
    await tab.click('button[value="code"]');
    expect(await tab.text()).toContain("The code is wrong, or was used.");
    await auditPage(tab, "second factor problem");
    await forgetCodes();
    await tab.enter('input[name="code"]', nextCode(secret));
    await tab.click('button[value="code"]');
    expect(await tab.url()).toBe(at(ACCOUNT));

    for (const isFirst of [true, false]) {
      await logOut();
      await logIn("alice");
      await tab.enter('input[name="code"]', (codes[0] ?? "").toLowerCase());
      await tab.click('button[value="code"]');
      expect((await tab.url()) === at(ACCOUNT)).toBe(isFirst);
    }
  });

  test("adds a passkey, and logs in with it alone and after the password [FACTOR-3]", async () => {
    await tab.addAuthenticator();
    await logIn("bob", FACTORS);
    await auditPage(tab, "factors with scripts", true);
    await tab.click("form[data-passkey] button");
    expect(await codesOf()).toHaveLength(10);
    await tab.goTo(at(FACTORS));
    expect(await tab.text()).toContain("Passkey");
    await tab.evaluate(`document.querySelector("form[data-passkey] button").click()`);
    const known = "This device already has a passkey of your account.";
    // The authenticator answers in its own time.
    let shown = "";
    do shown = await tab.text();
    while (!shown.includes(known) && !shown.includes("The passkey was not used"));
    expect(shown).toContain(known);
    expect(shown).not.toContain("The passkey was not used");

    await logOut();
    await tab.goTo(at(ACCOUNT));
    await auditPage(tab, "login", true);
    await tab.click("form[data-passkey] button");
    expect(await tab.url()).toBe(at(ACCOUNT));
    expect(await tab.evaluate('document.querySelector("#username").value')).toBe("bob");

    await logOut();
    await logIn("bob");
    expect(await tab.text()).toContain("Confirm that it is you");
    await tab.click("form[data-passkey] button");
    expect(await tab.url()).toBe(at(ACCOUNT));

    await tab.goTo(at(FACTORS));
    const { kysely } = databaseOf(iam);
    const factors = () => kysely.selectFrom("iam_second_factors").selectAll().execute();
    const before = await factors();
    await tab.click('button[value="ask_removal"]');
    expect(await tab.text()).toContain("It is your last factor.");
    await auditPage(tab, "remove factor");
    await tab.click('a[href="?"]');
    expect(await tab.text()).toContain("Add a factor");
    expect(await factors()).toEqual(before);
    await tab.click('button[value="ask_removal"]');
    await tab.click('button[value="remove"]');
    expect(await tab.text()).toContain("The factor was removed.");
    await logOut();
    await logIn("bob");
    expect(await tab.url()).toBe(at(ACCOUNT));
  });
});

describe.skipIf(chromiumIsAbsent())("a person who must have a second factor", () => {
  test("adds an app in the login, and cannot remove it [FACTOR-4]", async () => {
    const iam = await startSelf({ iam: { second_factor: { required_for: ["everyone"] } } });
    const browser = new Chromium("about:blank");
    try {
      const tab = await browser.until(Tab.open(browser));
      await tab.allowScripts(false);
      await tab.goTo(`${iam.origin}${FACTORS}`);
      await tab.enter('input[name="username"]', "alice");
      await tab.enter('input[name="password"]', PASSWORD);
      await tab.click('button[value="login"]');
      expect(await tab.text()).toContain("Your account needs a second factor.");
      await auditPage(tab, "required factor");
      const secret = (
        await tab.evaluate<string>('document.querySelector("main p code").innerText')
      ).replaceAll(" ", "");
      await tab.enter('input[name="code"]', totpCode(secret, Math.floor(Date.now() / 30_000)));
      await tab.click('button[value="code"]');
      expect(await tab.text()).toContain("Your recovery codes");
      await auditPage(tab, "required factor codes");
      await tab.click("button");
      expect(await tab.url()).toBe(`${iam.origin}${FACTORS}`);
      await tab.click('button[value="ask_removal"]');
      expect(await tab.text()).toContain("Add another one first.");
    } finally {
      await browser.close();
      await iam.stop();
    }
  });
});
