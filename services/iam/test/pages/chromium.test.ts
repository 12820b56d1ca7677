/** The other pages of svc-iam in a real Chromium, without scripts: axe finds nothing in them. */
import { ServiceError } from "svc-access/runtime";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Chromium, chromiumIsAbsent } from "../../../../test/support/browser/chromium.ts";
import { Tab } from "../../../../test/support/browser/tab.ts";
import { resetLaterPage } from "../../src/api/password/reset-pages.ts";
import {
  failedLoginPage,
  firstLoginPage,
  laterPage,
  otherSitePage,
} from "../../src/bootstrap/bootstrap-pages.ts";
import { leavingPage } from "../../src/login/browser/browser-login-pages.ts";
import {
  completedPage,
  loginPage,
  unimplementedPage,
} from "../../src/login/interaction/interaction-pages.ts";
import { errorPage } from "../../src/pages/error-pages.ts";
import type { Page } from "../../src/pages/page.ts";
import { linkOf } from "../support/bootstrap.ts";
import { startSelf } from "../support/browser-login.ts";
import type { IamService } from "../support/iam-service.ts";
import { PASSWORD } from "../support/memory-accounts.ts";
import { auditPage } from "../support/pages/page-audit.ts";
import { startPageServer } from "../support/pages/page-server.ts";
import { NEW, resetLinkOf, startUsers } from "../support/passwords.ts";

const CLIENT = "7a2f1c1e-0d6a-4bb1-8a5a-0d8c1ef1a0e2";
const CALLBACK = "http://localhost:9/callback";

describe.skipIf(chromiumIsAbsent())("a person with Chromium [PAGE-2, PAGE-4]", () => {
  let iam: IamService;
  let browser: Chromium;
  let tab: Tab;
  let users: Record<string, string>;
  /** Made before the zone had an owner. */
  let ownerLink: string;
  beforeAll(async () => {
    const client = { id: CLIENT, name: "TV & <Co>", flows: ["code", "device"] };
    iam = await startSelf({
      authn: { mode: "hybrid" },
      iam: { clients: [{ ...client, redirect_uris: [CALLBACK] }] },
    });
    ownerLink = (await linkOf(iam)).url;
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
    ["logged out of the service", "/v1/iam/logout", "Logged out"],
  ])("sees the page %s [PAGE-1]", async (name, path, text) => {
    await tab.goTo(at(path));
    expect(await tab.text()).toContain(text);
    await auditPage(tab, name);
  });

  test("sets a new password [PAGE-1]", async () => {
    const { url } = await resetLinkOf(iam, users["carol"] ?? "");
    await tab.goTo(url);
    await auditPage(tab, "new password");
    for (const name of ["password", "repeated"]) await tab.enter(`input[name="${name}"]`, "short");
    await tab.evaluate('document.querySelector("form").noValidate = true');
    await tab.click("button");
    expect(await tab.text()).toContain("must have at least 12 characters");
    await auditPage(tab, "new password problem");
    for (const name of ["password", "repeated"]) await tab.enter(`input[name="${name}"]`, NEW);
    await tab.click("button");
    await auditPage(tab, "password set");
  });

  test("sends a form too late", async () => {
    await tab.goTo(at("/v1/iam/oidc/device"));
    await tab.evaluate(`document.querySelector('[name="form_token"]').value = "x"`);
    await tab.enter('input[name="user_code"]', "BBBB-BBBB");
    await tab.click("button");
    await auditPage(tab, "expired form");
  });

  test("opens the link of a zone that has an owner", async () => {
    await tab.goTo(ownerLink);
    await auditPage(tab, "first owner owned");
  });

  test("logs in for a client in German, and refuses a device [PAGE-1, PAGE-3]", async () => {
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
    expect(await tab.text()).toContain("Sie darf dort alles, was Sie selbst dürfen.");
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
    expect(await tab.text()).toContain("The code is not known");
    await auditPage(tab, "device problem");
    await tab.enter('input[name="user_code"]', code);
    await tab.click("button");
    expect(await tab.text()).toContain(code);
    expect(await tab.text()).not.toContain("Request:");
    await auditPage(tab, "device confirmation");
    await tab.click('button[name="abort"]');
    expect(await tab.text()).toContain("The login was refused.");
    const again = await fetch(at("/v1/iam/oidc/device/auth"), {
      method: "POST",
      body: new URLSearchParams({ client_id: CLIENT, scope: "openid" }),
    });
    const { verification_uri_complete: link } = (await again.json()) as {
      readonly verification_uri_complete: string;
    };
    await tab.goTo(link);
    expect(await tab.text()).toContain("One more step: press the button.");
    await auditPage(tab, "device by its link");
    await tab.click("button");
    await tab.click('button[name="confirm"]');
    await tab.click('button[value="consent"]');
    await auditPage(tab, "device done");
    // The login stays one.
    await tab.goTo(at("/v1/iam/oidc/session/end"));
    await tab.click("a.second");
    expect(await tab.url()).toBe(at("/v1/iam/oidc/account"));
    expect(await tab.text()).toContain("Save the profile");
    query.set("prompt", "login");
    await tab.goTo(at(`/v1/iam/oidc/auth?${query}`));
    await tab.enter('input[name="username"]', "bob");
    await tab.enter('input[name="password"]', PASSWORD);
    await tab.click('button[value="login"]');
    expect(await tab.text()).toContain("Somebody else is logged in in this browser.");
    await auditPage(tab, "other person");
    await tab.click("button");
    expect(await tab.text()).toContain("Zugriff erlauben?");
  });

  test("guesses codes of devices, and must wait", async () => {
    await tab.goTo(at("/v1/iam/oidc/device"));
    for (let count = 0; count < 50; count++) {
      await tab.enter('input[name="user_code"]', "BBBB-BBBB");
      await tab.click("button");
      if ((await tab.text()).includes("Too many attempts")) break;
    }
    await auditPage(tab, "slowed");
  });

  test("logs in and out at the service, by the keyboard alone [PAGE-2, PAGE-4]", async () => {
    const alone = await Tab.open(browser, await browser.until(browser.newProfile()));
    await alone.allowScripts(false);
    await alone.goTo(at("/v1/iam/ui/login"));
    // A browser sets the focus of `autofocus` some time after the load.
    await expect
      .poll(() => focusOf(alone), { message: "the cursor is in the first field" })
      .toEqual({ name: "username", isVisible: true });
    await alone.type("alice");
    await alone.press("Tab");
    expect(await focusOf(alone)).toEqual({ name: "password", isVisible: true });
    await alone.type("a wrong password");
    await alone.enterAndLoad();
    expect(await alone.text()).toContain("The user name or the password is wrong.");
    await expect
      .poll(() => alone.evaluate("document.activeElement.role"), {
        message: "a screen reader says what is wrong, then the first field",
      })
      .toBe("alert");
    for (const [name, text] of [
      ["username", "alice"],
      ["password", PASSWORD],
    ] as const) {
      await alone.press("Tab");
      expect(await focusOf(alone)).toEqual({ name, isVisible: true });
      // What is there is selected by Tab.
      await alone.type(text);
    }
    await alone.press("Tab");
    expect(await focusOf(alone)).toEqual({ name: "action", isVisible: true });
    await alone.enterAndLoad();
    await auditPage(alone, "logged in at the service");
    for (const text of ["Your account", "Log out"]) {
      await alone.press("Tab");
      expect(await focusOf(alone)).toMatchObject({ isVisible: true });
      expect(await alone.evaluate("document.activeElement.innerText")).toBe(text);
    }
    await alone.enterAndLoad();
    await auditPage(alone, "log out of the service");
    await alone.press("Tab");
    await alone.enterAndLoad();
    expect(await alone.text()).toContain("Logged out");
  });
});

/** What has the focus, and whether that is to be seen. */
function focusOf(tab: Tab) {
  return tab.evaluate<{ name: string; isVisible: boolean }>(`(() => {
    const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement);
    return {
      name: document.activeElement.name,
      isVisible: outlineStyle === "solid" && Number.parseFloat(outlineWidth) >= 2,
    };
  })()`);
}

/** Pages of errors, as the service sends them. */
describe.skipIf(chromiumIsAbsent())("a person with Chromium whose request fails", () => {
  const next = "https://login.example.com/logout";
  const login = {
    client: "Console",
    leadsTo: undefined,
    token: "x",
    username: "alice",
    isAgain: false,
  };
  const pages = new Map<string, readonly [number, Page]>([
    [
      "login slowed",
      [
        429,
        loginPage({
          ...login,
          problem: {
            text: "There were too many failed attempts. Try again in {seconds} s.",
            values: { seconds: 30 },
          },
        }),
      ],
    ],
    [
      "login busy",
      [
        503,
        loginPage({
          ...login,
          problem: {
            text: "Too many people log in at the moment. Try again in a few seconds.",
          },
        }),
      ],
    ],
    ["completed login", [200, completedPage({ client: "TV & <Co>", url: next })]],
    ["not available", [501, unimplementedPage("prompt=select_account")]],
    ["on the way to the provider", [200, leavingPage(next)]],
    ["new password later", [503, resetLaterPage()]],
    ["first login", [200, firstLoginPage({ zone: "acme", loginUrl: next })]],
    ["first login failed", [400, failedLoginPage()]],
    ["first owner other site", [403, otherSitePage()]],
    ["first owner later", [503, laterPage()]],
    ["forged header", [400, errorPage(new ServiceError("INVALID_ARGUMENT"))]],
    ["error not logged in", [401, errorPage(new ServiceError("UNAUTHORIZED"))]],
    [
      "rate limit",
      [429, errorPage(new ServiceError("RATE_LIMITED", "x", { retryAfterSeconds: 7 }))],
    ],
    ["error try again", [503, errorPage(new ServiceError("UNAVAILABLE"))]],
    ["defect", [500, errorPage(new ServiceError("INTERNAL"))]],
  ]);
  let browser: Chromium;
  let tab: Tab;
  let server: Awaited<ReturnType<typeof startPageServer>>;
  beforeAll(async () => {
    server = await startPageServer(pages);
    browser = new Chromium("about:blank");
    tab = await browser.until(Tab.open(browser));
    await tab.allowScripts(false);
  });
  afterAll(async () => {
    await browser.close();
    server.stop();
  });

  test.each([...pages.keys()])("sees the page %s", async (name) => {
    await tab.goTo(server.at(name));
    await auditPage(tab, name);
  });
});
