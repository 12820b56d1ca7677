/** A person makes the first user with a real Chromium. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Chromium, chromiumIsAbsent } from "../../../../test/support/browser/chromium.ts";
import { Tab } from "../../../../test/support/browser/tab.ts";
import { FIRST, linkOf, ownersOf } from "../support/bootstrap.ts";
import { type IamService, startIam } from "../support/iam-service.ts";
import { auditPage } from "../support/pages/page-audit.ts";

describe.skipIf(chromiumIsAbsent())("a person with Chromium [PAGE-2]", () => {
  let iam: IamService;
  let browser: Chromium;
  let tab: Tab;
  beforeAll(async () => {
    iam = await startIam();
    browser = new Chromium("about:blank");
    tab = await browser.until(Tab.open(browser));
  });
  afterAll(async () => {
    await browser.close();
    await iam.stop();
  });

  test("opens the link, corrects a mistake, and owns the zone [PAGE-1]", async () => {
    const { url, token } = await linkOf(iam);
    await tab.goTo(url);
    await auditPage(tab, "first user", true);
    const fields = { ...FIRST, repeated: "correct horse battery stable" };
    for (const [name, value] of Object.entries(fields)) {
      await tab.enter(`input[name="${name}"]`, value);
    }
    await tab.click("button");
    expect(await tab.text()).toContain("The second password is another one.");
    await auditPage(tab, "first user problem", true);
    // The history of the browser has the link only where it was opened.
    expect(await tab.url()).not.toContain(token);
    for (const name of ["password", "repeated"]) {
      await tab.enter(`input[name="${name}"]`, FIRST[name] ?? "");
    }
    await tab.click("button");
    expect(await tab.text()).toContain("root owns acme");
    await auditPage(tab, "first owner", true);
    expect(await ownersOf(iam)).toHaveLength(1);
  });
});
