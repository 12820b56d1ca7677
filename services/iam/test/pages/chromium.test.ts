/** The other pages of svc-iam in a real Chromium, without scripts: axe finds nothing in them. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Chromium, chromiumIsAbsent } from "../../../../test/support/chromium.ts";
import { Tab } from "../../../../test/support/tab.ts";
import { startSelf } from "../support/browser-login.ts";
import type { IamService } from "../support/iam-service.ts";
import { PASSWORD } from "../support/memory-accounts.ts";
import { auditPage } from "../support/page-audit.ts";
import { resetLinkOf, startUsers } from "../support/passwords.ts";

const CLIENT = "7a2f1c1e-0d6a-4bb1-8a5a-0d8c1ef1a0e2";
const CALLBACK = "http://localhost:9/callback";

describe.skipIf(chromiumIsAbsent())("a person with Chromium", () => {
  let iam: IamService;
  let browser: Chromium;
  let tab: Tab;
  let users: Record<string, string>;
  beforeAll(async () => {
    const client = { id: CLIENT, name: "TV & <Co>", flows: ["code", "device"] };
    iam = await startSelf({
      authn: { mode: "hybrid" },
      iam: { clients: [{ ...client, redirect_uris: [CALLBACK] }] },
    });
    users = await startUsers(iam, ["carol"]);
    browser = new Chromium("about:blank");
    tab = await browser.until(Tab.open(browser));
    await tab.allowScripts(false);
  });
  afterAll(async () => {
    await browser.close();
    await iam.stop();
  });

  const at = (path: string) => `${iam.origin}${path}`;

  test.each<[name: string, path: string, text: string]>([
    ["no page", "/v1/iam/oidc/account/none", "There is no such page"],
    ["no link", "/v1/iam/ui/password-reset?token=x", "The link does not work"],
    ["no first owner", "/v1/iam/ui/bootstrap?token=x", "The link does not work"],
    ["no request", "/v1/iam/oidc/auth?client_id=x", "The request was refused"],
    ["no login", "/v1/iam/oidc/interaction/x", "The login has expired"],
    ["no callback", "/v1/iam/oauth2/callback?state=x", "The login did not succeed"],
    ["no return", "/v1/iam/ui/login?return_to=//x", "The address of the login is not valid"],
    ["logged out here", "/v1/iam/logout", "Logged out"],
  ])("sees the page %s", async (name, path, text) => {
    await tab.goTo(at(path));
    expect(await tab.text()).toContain(text);
    await auditPage(tab, name);
  });

  test("sets a new password", async () => {
    const { url } = await resetLinkOf(iam, users["carol"] ?? "");
    await tab.goTo(url);
    await auditPage(tab, "new password");
    for (const name of ["password", "repeated"]) await tab.enter(`input[name="${name}"]`, "short");
    await tab.evaluate('document.querySelector("form").noValidate = true');
    await tab.click("button");
    expect(await tab.text()).toContain("must have at least 12 characters");
    await auditPage(tab, "new password problem");
  });

  test("logs in for a client in German, and refuses a device", async () => {
    const query = new URLSearchParams({
      client_id: CLIENT,
      response_type: "code",
      scope: "openid email",
      redirect_uri: CALLBACK,
      code_challenge: "a".repeat(43),
      code_challenge_method: "S256",
      ui_locales: "de",
    });
    await tab.goTo(at(`/v1/iam/oidc/auth?${query}`));
    expect(await tab.text()).toContain("um fortzufahren zu TV & <Co>");
    await auditPage(tab, "login in German");
    await tab.enter('input[name="username"]', "alice");
    await tab.enter('input[name="password"]', PASSWORD);
    await tab.click('button[value="login"]');
    expect(await tab.text()).toContain("Zugriff erlauben?");
    await auditPage(tab, "consent");
    const begun = await fetch(at("/v1/iam/oidc/device/auth"), {
      method: "POST",
      body: new URLSearchParams({ client_id: CLIENT, scope: "openid" }),
    });
    const { user_code: code } = (await begun.json()) as { readonly user_code: string };
    await tab.goTo(at("/v1/iam/oidc/device"));
    expect(await tab.text()).not.toContain("Request:");
    await auditPage(tab, "device");
    await tab.enter('input[name="user_code"]', "BBBB-BBBB");
    await tab.click("button");
    expect(await tab.text()).toContain("The code is not known.");
    await auditPage(tab, "device problem");
    await tab.enter('input[name="user_code"]', code);
    await tab.click("button");
    expect(await tab.text()).toContain(code);
    expect(await tab.text()).not.toContain("Request:");
    await auditPage(tab, "device confirmation");
    await tab.click('button[name="abort"]');
    expect(await tab.text()).toContain("The login was refused.");
  });
});
