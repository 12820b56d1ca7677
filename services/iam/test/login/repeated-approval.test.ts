/** The approval of a device that is sent twice, as by a double click, or loaded again. */
import * as client from "openid-client";
import { DatabaseError } from "svc-access/database";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { PageDesign } from "../../src/pages/page-design.ts";
import type { ClientDeclaration } from "../../src/provider/embedded/client-declaration.ts";
import { Browser, fieldOf, type Visit } from "../support/browser.ts";
import {
  ASKING_TV,
  CONSOLE,
  enter,
  logIn,
  pollDevice,
  type RunningProvider,
  startProvider,
  TV,
} from "../support/provider-server.ts";

let iam: RunningProvider;
let now = Date.now();
beforeAll(async () => {
  iam = await startProvider({ clients: [CONSOLE, TV, ASKING_TV], now: () => now });
});
afterAll(() => iam.stop());
afterEach(() => void vi.restoreAllMocks());

const YES = { confirm: "yes" };
const DONE = expect.stringContaining("The device is logged in");

/** The page that asks whether a device is to be logged in. */
async function confirmation(browser: Browser, declared = TV) {
  const configuration = await iam.configure(declared);
  const begun = await client.initiateDeviceAuthorization(configuration, { scope: "openid" });
  const page = await browser.submit(await browser.open(begun.verification_uri_complete ?? ""), {});
  expect(page.text).toContain("Log in on this device?");
  return { page, poll: () => poll(begun.device_code, declared), begun };
}

async function poll(deviceCode: string, declared: ClientDeclaration): Promise<string> {
  const { text } = await pollDevice(iam, deviceCode, declared);
  const { error = "tokens" } = JSON.parse(text) as { readonly error?: string };
  return error;
}

async function loggedIn(): Promise<Browser> {
  const browser = new Browser(iam.origin);
  await logIn(await iam.configure(CONSOLE), browser);
  return browser;
}

const approvals = async () => (await iam.events("device.approved")).length;
const shown = ({ status, text }: Visit) => [status, text];

describe("of a client without consent", () => {
  test("leads to the same page each time, and approves once [IDP-8]", async () => {
    const browser = await loggedIn();
    const { page, poll } = await confirmation(browser);
    const before = await approvals();
    const done = await browser.submit(page, YES);
    expect(shown(done)).toEqual([200, DONE]);
    // F5 sends no form.
    expect(shown(await browser.open(done.url))).toEqual([200, DONE]);
    expect(shown(await browser.submit(page, YES))).toEqual([200, DONE]);
    expect(await poll()).toBe("tokens");
    expect(shown(await browser.submit(page, YES))).toEqual([200, DONE]);
    expect(await approvals()).toBe(before + 1);
    // A code that was used again ends what it has issued.
    expect(await poll()).toBe("invalid_grant");
  });

  test("leads there at the same moment, too [IDP-8]", async () => {
    const browser = await loggedIn();
    const { page, poll } = await confirmation(browser);
    const before = await approvals();
    const sent = await Promise.all([1, 2, 3].map(() => browser.submit(page, YES)));
    for (const visit of sent) expect(shown(visit)).toEqual([200, DONE]);
    expect(await approvals()).toBe(before + 1);
    expect(await poll()).toBe("tokens");
    expect(await poll()).toBe("invalid_grant");
  });

  test("leads there also from the page of somebody who was not logged in", async () => {
    const browser = new Browser(iam.origin);
    const { page, poll } = await confirmation(browser);
    const [first, second] = [await browser.submit(page, YES), await browser.submit(page, YES)];
    expect(first.text).toContain('name="password"');
    // The browser shows the answer to the second click.
    expect(shown(await enter(browser, second))).toEqual([200, DONE]);
    expect(await poll()).toBe("tokens");
    expect(shown(await browser.submit(page, YES))).toEqual([200, DONE]);
  });
});

describe("of a client that asks for consent", () => {
  test("leads to the consent each time, and the device is logged in [IDP-8]", async () => {
    const browser = await loggedIn();
    const { page, poll } = await confirmation(browser, ASKING_TV);
    const before = await approvals();
    const first = await browser.submit(page, YES);
    const ofFirst = ["iam_interaction", "iam_resume"].map((name) => [name, browser.cookie(name)]);
    const second = await browser.submit(page, YES);
    for (const visit of [first, second]) expect(visit.text).toContain("Allow access?");
    expect(await poll()).toBe("authorization_pending");
    expect(shown(await browser.submit(second, { action: "consent" }))).toEqual([200, DONE]);
    expect(await approvals()).toBe(before + 1);
    // Another tab has the first page, and browsers keep the cookies of each page.
    for (const [name = "", value = ""] of ofFirst) browser.setCookie(name, value, "/v1/iam/oidc");
    expect(shown(await browser.submit(first, { action: "consent" }))).toEqual([200, DONE]);
    expect(shown(await browser.submit(page, YES))).toEqual([200, DONE]);
    expect(await approvals()).toBe(before + 1);
  });

  test("can be refused after a first click that went too far", async () => {
    const browser = await loggedIn();
    const { page, poll } = await confirmation(browser, ASKING_TV);
    await browser.submit(page, YES);
    const refused = await browser.submit(page, { abort: "yes" });
    expect(shown(refused)).toEqual([200, expect.stringContaining("The login was refused.")]);
    expect(await poll()).toBe("access_denied");
  });
});

test("a refusal that is sent twice says the same each time, and stays one [IDP-8]", async () => {
  const browser = await loggedIn();
  const { page, poll } = await confirmation(browser);
  const refused = expect.stringContaining("The login was refused.");
  const before = await approvals();
  for (const fields of [{ abort: "yes" }, { abort: "yes" }, YES]) {
    expect(shown(await browser.submit(page, fields))).toEqual([200, refused]);
  }
  expect(await poll()).toBe("access_denied");
  expect(await approvals()).toBe(before);
});

test.each([
  [503, "1", "Try again in a few seconds.", new DatabaseError("UNAVAILABLE", "it is down")],
  [500, null, "tell its operators the number of the request", new TypeError("a defect")],
] as const)(
  "an approval that failed with %i decided nothing: the person tries again, and the device waits [IDP-8]",
  async (status, seconds, text, error) => {
    const browser = await loggedIn();
    const { page, poll } = await confirmation(browser);
    const find = vi.spyOn(iam.accounts, "find").mockRejectedValue(error);
    const body = new URLSearchParams({
      ...Object.fromEntries(
        ["xsrf", "form_token", "user_code"].map((name) => [name, fieldOf(page, name)]),
      ),
      ...YES,
    });
    const personal = vi.spyOn(PageDesign.prototype, "personalView");
    const failed = await browser.request(page.url, { method: "POST", body });
    // The look of the page waits for no dependency that is down.
    expect(personal.mock.calls.length > 0).toBe(status !== 503);
    personal.mockRestore();
    find.mockRestore();
    expect([failed.status, failed.headers.get("retry-after")]).toEqual([status, seconds]);
    expect(await failed.text()).toContain(text);
    expect(await poll()).toBe("authorization_pending");
    now += 10_000;
    expect(shown(await browser.submit(page, YES))).toEqual([200, DONE]);
    expect(await poll()).toBe("tokens");
  },
);

describe("the code of a device that another browser has approved, or is approving", () => {
  const USED = expect.stringContaining("The code was already used. Start again on the device.");

  test.each<[string, ClientDeclaration]>([
    ["approved", TV],
    ["begun", ASKING_TV],
  ])("cannot be used where it was not %s [IDP-8, IDP-18]", async (_, declared) => {
    const [browser, other] = [await loggedIn(), await loggedIn()];
    const { page, begun } = await confirmation(browser, declared);
    const { page: own } = await confirmation(other, declared);
    const before = await approvals();
    await browser.submit(page, YES);
    const approved = await approvals();
    for (const fields of [YES, { abort: "yes" }, {}]) {
      const visit = await other.submit(own, { user_code: begun.user_code, ...fields });
      expect(shown(visit)).toEqual([200, USED]);
    }
    expect(await approvals()).toBe(approved);
    expect(approved - before).toBe(declared === TV ? 1 : 0);
  });

  test("is not that of who is logged in later in the same browser [IDP-18]", async () => {
    const browser = await loggedIn();
    const { page } = await confirmation(browser);
    expect(shown(await browser.submit(page, YES))).toEqual([200, DONE]);
    await browser.submit(await browser.open(`${iam.issuer}/session/end`), { logout: "yes" });
    const late = await browser.submit(page, YES);
    expect(shown(late)).toEqual([403, expect.stringContaining("The form has expired")]);
    expect(late.text).toContain('href="/v1/iam/oidc/device"');
    const form = await browser.open(`${iam.issuer}/device`);
    const visit = await browser.submit(form, { user_code: fieldOf(page, "user_code") });
    expect(shown(visit)).toEqual([200, USED]);
  });
});

test("the page of an approval is shown in its browser alone, and not for ever", async () => {
  const browser = await loggedIn();
  const { page } = await confirmation(browser);
  const done = await browser.submit(page, YES);
  const others = [new Browser(iam.origin), await loggedIn()];
  for (const other of others) {
    const visit = await other.open(done.url);
    expect([visit.url, visit.text]).toEqual([
      `${iam.issuer}/device`,
      expect.stringContaining("Enter the code that the device shows."),
    ]);
  }
  for (const query of ["", "?done=", "?done=x"]) {
    expect((await browser.open(`${iam.issuer}/device/done${query}`)).url).toBe(
      `${iam.issuer}/device`,
    );
  }
  now += 3_600_001;
  expect((await browser.open(done.url)).url).toBe(`${iam.issuer}/device`);
});

test("a form of another tab counts: the second tab does not end it", async () => {
  const browser = await loggedIn();
  const first = await confirmation(browser);
  const second = await confirmation(browser);
  for (const { page, poll } of [first, second]) {
    expect(shown(await browser.submit(page, YES))).toEqual([200, DONE]);
    expect(await poll()).toBe("tokens");
  }
});

test("a code that has expired meanwhile says so, and what to do [IDP-8]", async () => {
  const browser = await loggedIn();
  const { page, poll } = await confirmation(browser);
  // `oidc-provider` has no other clock.
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 601_000 });
  try {
    const late = await browser.submit(page, YES);
    const expired = expect.stringContaining("The code has expired. Start again on the device.");
    expect(shown(late)).toEqual([200, expired]);
    expect(await poll()).toBe("expired_token");
  } finally {
    vi.useRealTimers();
  }
});
