/** What svc-iam records of logins in a browser that failed, and that nothing is in it that somebody sent. */
import { beforeAll, describe, expect, test } from "vitest";
import { linkOf, open } from "../support/bootstrap.ts";
import { Browser } from "../support/browser.ts";
import { startSelf, untilCallback } from "../support/browser-login.ts";
import { IamWithCasdoor } from "../support/casdoor/iam-with-casdoor.ts";
import { auditEvents, type IamService, LOGIN_CLIENT } from "../support/iam-service.ts";
import { PASSWORD } from "../support/memory-accounts.ts";
import { relate } from "../support/passwords.ts";
import { startTwoServices, type TwoServices } from "../support/two-services.ts";

const CALLBACK = "/v1/iam/oauth2/callback";
/** What the other side wrote. */
const TEXT = "text-of-the-other-side";

/** The stored events of a type since the last look, the oldest first. */
function eventsOf(iam: () => IamService, type: string) {
  let seen = 0;
  return async () => {
    const events = await auditEvents(iam(), { type });
    const fresh = events.slice(0, events.length - seen).reverse();
    seen = events.length;
    return fresh;
  };
}

/** Opens a callback after a change, which must fail, and returns its event without what is the same in all. */
async function failAt(
  browser: Browser,
  url: URL,
  change: (url: URL) => void,
  fresh: ReturnType<typeof eventsOf>,
) {
  const secrets = ["code", "state"].map((name) => url.searchParams.get(name) ?? TEXT);
  change(url);
  const { status } = await browser.request(url.href);
  const events = await fresh();
  const text = JSON.stringify(events);
  for (const secret of [...secrets, TEXT]) expect(text).not.toContain(secret);
  return [status, ...events.map(({ data }) => [data.rpc, data.risk_level, data.details?.reason])];
}

const event = (reason: string) => [CALLBACK, "MEDIUM", reason];

const AT_ANY: readonly [string, (url: URL) => void, string][] = [
  ["of no login", (url) => url.searchParams.set("state", TEXT), "unknown"],
  ["without a state", (url) => url.searchParams.delete("state"), "unknown"],
  ["with another code", (url) => url.searchParams.set("code", TEXT), "refused"],
  ["of another issuer", (url) => url.searchParams.set("iss", `https://${TEXT}`), "refused"],
  ["without a code", (url) => url.searchParams.delete("code"), "denied"],
  [
    "with an error",
    (url) => {
      url.searchParams.set("error", TEXT);
      url.searchParams.set("error_description", TEXT);
    },
    "denied",
  ],
];

describe("with its own provider, a callback that fails is recorded [IDP-23]", () => {
  let iam: IamService;
  const fresh = eventsOf(() => iam, "login.failed");
  beforeAll(async () => {
    iam = await startSelf();
    return () => iam.stop();
  });

  test.each(AT_ANY)("%s", async (_, change, reason) => {
    const browser = new Browser(iam.origin);
    const url = await untilCallback(iam, browser);
    expect(await failAt(browser, url, change, fresh)).toEqual([400, event(reason)]);
  });

  test("that came before", async () => {
    const browser = new Browser(iam.origin);
    const url = await untilCallback(iam, browser);
    const twin = new Browser(iam.origin);
    for (const name of browser.names()) twin.setCookie(name, browser.cookie(name) ?? "");
    expect((await browser.request(url.href)).status).toBe(303);
    expect(await failAt(twin, url, () => undefined, fresh)).toEqual([400, event("repeated")]);
  });

  test("a flood of them is a few events, and their number", async () => {
    await fresh();
    const headers = { "x-forwarded-for": "203.0.113.77" };
    for (let count = 0; count < 30; count++) {
      await fetch(`${iam.origin}${CALLBACK}?state=${TEXT}`, { headers });
    }
    const stored = await fresh();
    expect(stored.length).toBeGreaterThan(0);
    expect(stored.length).toBeLessThanOrEqual(10);
  });
});

test("the number of a flood is recorded when the service stops [IDP-23]", async () => {
  const iam = await startSelf();
  const fresh = eventsOf(() => iam, "login.failed");
  for (let count = 0; count < 14; count++) await fetch(`${iam.origin}${CALLBACK}?state=${TEXT}`);
  await iam.stop();
  const counts = (await fresh()).map(({ data }) => Number(data.details?.repeats ?? 1));
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(14);
});

test("a flood of slowed passwords is a few events [IDP-23]", async () => {
  const iam = await startSelf();
  const fresh = eventsOf(() => iam, "login.slowed");
  const browser = new Browser(iam.origin);
  let page = await browser.open(`${iam.origin}/v1/iam/ui/login`);
  const form = { action: "login", username: "alice", password: TEXT };
  let slowed = 0;
  for (let count = 0; count < 30; count++) {
    page = await browser.submit(page, form);
    if (page.status === 429) slowed++;
  }
  expect(slowed).toBeGreaterThan(15);
  const events = await fresh();
  await iam.stop();
  expect(events).toHaveLength(10);
  expect(events[0]?.data).toMatchObject({
    risk_level: "MEDIUM",
    details: { client: LOGIN_CLIENT },
  });
});

test("a flood of made-up passkeys is a few events [IDP-23]", async () => {
  const iam = await startSelf();
  const fresh = eventsOf(() => iam, "second_factor.failed");
  const browser = new Browser(iam.origin);
  let page = await browser.open(`${iam.origin}/v1/iam/ui/login`);
  for (let count = 0; count < 15; count++) {
    page = await browser.submit(page, { action: "passkey", passkey: TEXT });
  }
  expect(page.status).toBe(401);
  const events = await fresh();
  await iam.stop();
  expect(events).toHaveLength(10);
  expect(events[0]?.data.details).toEqual({ client: LOGIN_CLIENT, method: "passkey" });
  expect(JSON.stringify(events)).not.toContain(TEXT);
});

describe("with an OpenID provider elsewhere, a login that fails is recorded [IDP-23]", () => {
  let both: TwoServices;
  const fresh = eventsOf(() => both.service, "login.failed");
  beforeAll(async () => {
    both = await startTwoServices();
    return () => both.stop();
  });

  /** Logs in at the provider, up to the callback. */
  async function untilBack(browser: Browser): Promise<URL> {
    const begun = await browser.request(`${both.service.origin}/v1/iam/ui/login`);
    const there = new Browser(both.provider.origin);
    const page = await there.open(begun.headers.get("location") ?? "");
    const form = { action: "login", username: "alice", password: PASSWORD };
    return new URL((await there.submit(page, form)).url);
  }

  test.each(AT_ANY)("%s", async (_, change, reason) => {
    const browser = new Browser(both.service.origin);
    const url = await untilBack(browser);
    expect(await failAt(browser, url, change, fresh)).toEqual([400, event(reason)]);
  });

  test("whose provider does not answer", async () => {
    const browser = new Browser(both.service.origin);
    const url = await untilBack(browser);
    await both.provider.stop();
    expect(await failAt(browser, url, () => undefined, fresh)).toEqual([503, event("unavailable")]);
  });
});

test("with Casdoor, a login whose token is not accepted is recorded [IDP-23]", async () => {
  const casdoor = await IamWithCasdoor.start({
    iam: { browser_login: "self" },
    authn: { mode: "idp_jwt" },
  });
  casdoor.casdoor.redirectUris.push(`${casdoor.iam.origin}${CALLBACK}`);
  const fresh = eventsOf(() => casdoor.iam, "login.failed");
  const browser = new Browser(casdoor.iam.origin);
  const begun = await browser.request(`${casdoor.iam.origin}/v1/iam/ui/login`);
  const back = await casdoor.casdoor.visit(begun.headers.get("location") ?? "");
  casdoor.casdoor.oauth.claims = { owner: TEXT };
  expect(await failAt(browser, back, () => undefined, fresh)).toEqual([400, event("refused")]);
  await casdoor.stop();
});

test("a link for the first owner that does not work is recorded [IDP-23]", async () => {
  const iam = await startSelf();
  const fresh = eventsOf(() => iam, "bootstrap.failed");
  const { path, token } = await linkOf(iam);
  const other = `/v1/iam/ui/bootstrap?token=${TEXT.padEnd(43, "x")}`;
  expect((await open(iam, other)).status).toBe(404);
  await relate(iam, "owner", "somebody");
  expect((await open(iam, path)).status).toBe(409);
  const events = await fresh();
  await iam.stop();
  expect(events.map(({ subject, data }) => [subject, data.risk_level, data.details])).toEqual([
    [undefined, "MEDIUM", { reason: "dead_link" }],
    ["zone:acme", "MEDIUM", { reason: "owned" }],
  ]);
  expect(JSON.stringify(events)).not.toContain(TEXT);
  expect(JSON.stringify(events)).not.toContain(token);
});
