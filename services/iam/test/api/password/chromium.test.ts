/** A person sets a new password with a real Chromium. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Chromium, chromiumIsAbsent } from "../../../../../test/support/browser/chromium.ts";
import { Tab } from "../../../../../test/support/browser/tab.ts";
import { startSelf } from "../../support/browser-login.ts";
import type { IamService } from "../../support/iam-service.ts";
import { NEW, resetLinkOf, startUsers } from "../../support/passwords.ts";

describe.skipIf(chromiumIsAbsent())("a person with Chromium", () => {
  let iam: IamService;
  let browser: Chromium;
  let tab: Tab;
  let users: Record<string, string>;
  beforeAll(async () => {
    iam = await startSelf({ authn: { mode: "hybrid" } });
    users = await startUsers(iam, ["carol"]);
    browser = new Chromium("about:blank");
    tab = await browser.until(Tab.open(browser));
  });
  afterAll(async () => {
    await browser.close();
    await iam.stop();
  });

  test("opens the link, corrects a mistake, and logs in with the new password [IDP-29, IDP-30]", async () => {
    const { url, token } = await resetLinkOf(iam, users["carol"] ?? "");
    await tab.goTo(url);
    expect(await tab.url()).toBe(`${iam.origin}/v1/iam/ui/password-reset`);
    await tab.enter('input[name="password"]', NEW);
    await tab.enter('input[name="repeated"]', `${NEW}!`);
    await tab.click("button");
    expect(await tab.text()).toContain("The second password is another one.");
    await tab.enter('input[name="password"]', NEW);
    await tab.enter('input[name="repeated"]', NEW);
    await tab.click("button");
    expect(await tab.text()).toContain("The password was set");
    expect(await tab.url()).not.toContain(token);
    await tab.goTo(url);
    expect(await tab.text()).toContain("The link does not work");
    await tab.goTo(`${iam.origin}/v1/iam/ui/login?return_to=/v1/iam/me`);
    await tab.enter('input[name="username"]', "carol");
    await tab.enter('input[name="password"]', NEW);
    await tab.click('button[value="login"]');
    expect(JSON.parse(await tab.text())).toMatchObject({ username: "carol" });
  });
});
