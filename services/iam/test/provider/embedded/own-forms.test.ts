/** The forms of the provider have tokens of their own, besides those of `oidc-provider`. */
import * as client from "openid-client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FORM_TOKEN } from "../../../src/pages/form-tokens.ts";
import type { ClientDeclaration } from "../../../src/provider/embedded/client-declaration.ts";
import { Browser, fieldOf, type Visit } from "../../support/browser.ts";
import { PASSWORD } from "../../support/memory-accounts.ts";
import {
  begin,
  CONSOLE,
  enter,
  logIn,
  type RunningProvider,
  startProvider,
  TV,
} from "../../support/provider-server.ts";

const ASKING: ClientDeclaration = { ...CONSOLE, asksConsent: true };
let iam: RunningProvider;
let web: client.Configuration;
let tv: client.Configuration;
beforeAll(async () => {
  iam = await startProvider({ clients: [ASKING, TV] });
  [web, tv] = [await iam.configure(ASKING), await iam.configure(TV)];
});
afterAll(() => iam.stop());

/** A form that a browser is shown, and how it is filled. */
interface Shown {
  readonly page: Visit;
  readonly fields: Readonly<Record<string, string>>;
}

async function loggedIn(browser: Browser): Promise<void> {
  const page = await browser.open((await begin(web)).url.href);
  await browser.submit(await enter(browser, page), { action: "consent" });
}

const FORMS: Readonly<Record<string, (browser: Browser) => Promise<Shown>>> = {
  login: async (browser) => ({
    page: await browser.open((await begin(web)).url.href),
    fields: { action: "login", username: "alice", password: PASSWORD },
  }),
  "login that is cancelled": async (browser) => ({
    page: await browser.open((await begin(web)).url.href),
    fields: { action: "cancel" },
  }),
  consent: async (browser) => ({
    page: await enter(browser, await browser.open((await begin(web)).url.href)),
    fields: { action: "consent" },
  }),
  "code of a device": async (browser) => {
    const { user_code } = await client.initiateDeviceAuthorization(tv, { scope: "openid" });
    return { page: await browser.open(`${iam.issuer}/device`), fields: { user_code } };
  },
  "code of a device, from its link": async (browser) => {
    const begun = await client.initiateDeviceAuthorization(tv, { scope: "openid" });
    return { page: await browser.open(begun.verification_uri_complete ?? ""), fields: {} };
  },
  "device that is allowed": async (browser) => {
    await loggedIn(browser);
    const begun = await client.initiateDeviceAuthorization(tv, { scope: "openid" });
    const page = await browser.open(begun.verification_uri_complete ?? "");
    return { page: await browser.submit(page, {}), fields: { confirm: "yes" } };
  },
  logout: async (browser) => {
    await loggedIn(browser);
    return { page: await browser.open(`${iam.issuer}/session/end`), fields: { logout: "yes" } };
  },
};

describe.each(Object.keys(FORMS))("the form of a %s [IDP-12]", (name) => {
  const show = FORMS[name] as (typeof FORMS)[string];
  const sent = (browser: Browser, { page, fields }: Shown, token: Record<string, string>) =>
    browser.submit(page, { ...fields, ...token });

  test.each<[string, () => Promise<string>]>([
    ["without its token", async () => ""],
    ["with text", async () => "x"],
    [
      "with the token of another browser",
      async () => fieldOf((await show(new Browser(iam.origin))).page, FORM_TOKEN),
    ],
    [
      "with the token of another form",
      async () => {
        const other = name === "logout" ? "code of a device" : "logout";
        return fieldOf(
          (await (FORMS[other] as typeof show)(new Browser(iam.origin))).page,
          FORM_TOKEN,
        );
      },
    ],
  ])("is refused %s, and accepted with its own after that", async (_how, tokenOf) => {
    const browser = new Browser(iam.origin);
    const shown = await show(browser);
    const token = await tokenOf();
    const refused = await sent(browser, shown, { [FORM_TOKEN]: token });
    expect([refused.status, refused.text]).toEqual([
      403,
      expect.stringContaining("The form has expired"),
    ]);
    expect((await sent(browser, shown, {})).status).not.toBe(403);
  });
});

test("a form of another client gets no token", async () => {
  const browser = new Browser(iam.origin);
  const begun = await begin(web, { response_mode: "form_post", prompt: "none" });
  const back = await browser.open(begun.url.href);
  expect(back.text).toContain('action="https://app.example.com/callback"');
  expect(back.text).not.toContain(FORM_TOKEN);
});

describe("an endpoint in another spelling has the same checks, or is none", () => {
  // Another spelling would evade the rate limit.
  test.each([
    "/DEVICE",
    "/Device",
    "/device/",
    "/DEVICE/",
    "/device/AUTH/",
    "/session/end/CONFIRM",
    "/session/end/confirm/",
  ])("%s", async (path) => {
    const init = {
      method: "POST",
      body: new URLSearchParams({ xsrf: "x", user_code: "BBBB-BBBB", client_id: TV.id }),
    };
    expect((await fetch(`${iam.issuer}${path}`, init)).status).toBe(404);
  });

  test("access tokens are found", async () => {
    const own = await startProvider();
    const configuration = await own.configure(CONSOLE);
    const tokens = await logIn(configuration, new Browser(own.origin));
    const basic = Buffer.from(`${CONSOLE.id}:${CONSOLE.secret}`).toString("base64");
    const answer = await fetch(`${own.issuer}/token/Introspection/`, {
      method: "POST",
      headers: { authorization: `Basic ${basic}` },
      body: new URLSearchParams({ token: tokens.access_token }),
    });
    expect(await answer.json()).toMatchObject({ active: true });
    await own.stop();
  });
});
