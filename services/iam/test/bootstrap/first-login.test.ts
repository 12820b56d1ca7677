/** The first owner of a zone whose users are another provider's: whoever logs in by the link. */
import {
  afterAll,
  beforeAll,
  beforeEach,
  describe,
  expect,
  onTestFinished,
  test,
  vi,
} from "vitest";
import { freePort } from "../../../../test/support/free-port.ts";
import { UsedLinks } from "../../src/bootstrap/used-links.ts";
import {
  FIRST,
  holdBootstrapJob,
  linkOf,
  open,
  ownersOf,
  recordedOwners,
  runBootstrapJob,
  send,
  withoutAudit,
} from "../support/bootstrap.ts";
import { Browser } from "../support/browser.ts";
import { addUser } from "../support/browser-login.ts";
import { auditEvents, type IamService, startIam } from "../support/iam-service.ts";
import { PASSWORD } from "../support/memory-accounts.ts";

const CLIENT = {
  id: "0b0c1f0e-5a53-4f6e-9d0e-6f1d5a3b8c11",
  secret: "a secret of the tests, long",
};
const COOKIE = "svc-iam-bootstrap";

let provider: IamService;
let iam: IamService;
let owner: string;

beforeAll(async () => {
  const port = await freePort();
  provider = await startIam({
    iam: {
      clients: [
        {
          id: CLIENT.id,
          name: "The service",
          flows: ["code"],
          client_secret: CLIENT.secret.padEnd(32, "."),
          redirect_uris: [`http://localhost:${port}/v1/iam/ui/bootstrap/callback`],
          ask_consent: false,
        },
      ],
    },
  });
  // The provider's own first user, who knows nothing of the other service.
  const { token } = await linkOf(provider);
  expect((await send(provider, { ...FIRST, token })).status).toBe(200);
  owner = (await ownersOf(provider))[0] ?? "";
  iam = await startIam({
    port,
    organization: "other",
    authn: { provider: "oidc" },
    oidc: { issuer: `${provider.origin}/v1/iam/oidc`, audience: [CLIENT.id] },
    login: { client_id: CLIENT.id, client_secret: CLIENT.secret.padEnd(32, ".") },
  });
});
afterAll(async () => {
  await iam.stop();
  await provider.stop();
});
beforeEach(async () => {
  const filter = { resourceType: "zone", resourceId: "other", relation: "owner" };
  const { items = [] } = (await iam.options.engine?.readRelationships(filter)) ?? {};
  if (items.length === 0) return;
  await iam.options.engine?.writeRelationships({
    updates: items.map((relationship) => ({ operation: "DELETE", relationship })),
  });
});

let clients = 0;
/** The requests of a browser are limited by address. */
const from = () => ({ headers: { "x-forwarded-for": `203.0.113.${++clients % 256}` } });

/** Opens a link in a browser, and logs in at the provider, up to the callback. */
async function untilCallback(
  browser: Browser,
  url: string,
  fields = { username: FIRST["username"] ?? "", password: FIRST["password"] ?? "" },
): Promise<URL> {
  const page = await browser.open(url, from());
  expect(page.status, page.text).toBe(200);
  const login =
    /<a class="button" href="([^"]*)"/.exec(page.text)?.[1]?.replaceAll("&amp;", "&") ?? "";
  const there = new Browser(provider.origin);
  const form = await there.open(login);
  const back = await there.submit(form, { action: "login", ...fields });
  return new URL(back.url);
}

test("whoever logs in by the link becomes the owner, once [IDP-25]", async () => {
  const { url, token } = await linkOf(iam, "other");
  const browser = new Browser(iam.origin);
  const callback = await untilCallback(browser, url);
  expect(`${callback.origin}${callback.pathname}`).toBe(
    `${iam.origin}/v1/iam/ui/bootstrap/callback`,
  );
  expect(callback.href).not.toContain(token);
  expect(await ownersOf(iam, "other")).toEqual([]);
  const done = await browser.open(callback.href, from());
  expect([done.status, done.text]).toEqual([
    200,
    expect.stringContaining("<strong><bdi>root</bdi></strong>"),
  ]);
  expect(await ownersOf(iam, "other")).toEqual([owner]);
  // Neither the token nor the secret of the login is left. The page can be loaded again, and only here.
  expect(browser.cookie(COOKIE)).toMatch(/^made\.b3RoZXI\./);
  expect(browser.cookie(COOKIE)).not.toContain(token);
  for (const again of [done.url, callback.href]) {
    const { url: at, status, text } = done;
    expect(await browser.open(again, from())).toMatchObject({ url: at, status, text });
  }
  const other = new Browser(iam.origin);
  other.setCookie(COOKIE, browser.cookie(COOKIE) ?? "");
  expect((await other.open(callback.href, from())).status).toBe(400);
  expect((await other.open(done.url, from())).status).toBe(404);
  expect((await browser.open(url, from())).status).toBe(409);
  const events = await auditEvents(iam, { type: "bootstrap.used" });
  expect(events).toMatchObject([{ subject: "zone:other", data: { details: { owner } } }]);
  expect(JSON.stringify(events)).not.toContain(token);
});

describe("a link whose use could not be recorded [IDP-25]", () => {
  const runJob = async (job: { release(): void }) => {
    job.release();
    await runBootstrapJob(iam);
    await runBootstrapJob(iam);
  };
  const use = async (url: string) => {
    const browser = new Browser(iam.origin);
    const callback = await untilCallback(browser, url);
    return () => browser.open(callback.href, from());
  };
  let before = 0;
  beforeEach(async () => {
    before = (await recordedOwners(iam)).length;
  });
  const recorded = async () => (await recordedOwners(iam)).slice(0, -before || undefined);
  /** Makes the owner, and nothing more. */
  const useAndCrash = async (url: string) => {
    const job = holdBootstrapJob();
    const finish = await use(url);
    const crash = vi.spyOn(UsedLinks.prototype, "record").mockRejectedValue(new Error("killed"));
    onTestFinished(() => crash.mockRestore());
    expect((await finish()).status).toBe(500);
    crash.mockRestore();
    expect(await ownersOf(iam, "other")).toEqual([owner]);
    expect(await recorded()).toEqual([]);
    return job;
  };

  test("works again, and records it then", async () => {
    const { url } = await linkOf(iam, "other");
    holdBootstrapJob();
    const finish = await use(url);
    expect((await withoutAudit(iam, finish)).status).toBe(503);
    expect(await (await use(url))()).toMatchObject({ status: 200 });
    expect(await recorded()).toEqual([owner]);
    expect((await new Browser(iam.origin).open(url, from())).status).toBe(409);
  });

  test("is completed by the job if the process ended", async () => {
    const { url } = await linkOf(iam, "other");
    await runJob(await useAndCrash(url));
    expect(await recorded()).toEqual([owner]);
    expect((await new Browser(iam.origin).open(url, from())).status).toBe(409);
  });

  test("makes nobody else the owner", async () => {
    await addUser(provider, "bob");
    const { url } = await linkOf(iam, "other");
    const job = await useAndCrash(url);
    const browser = new Browser(iam.origin);
    const callback = await untilCallback(browser, url, { username: "bob", password: PASSWORD });
    expect((await browser.open(callback.href, from())).status).toBe(404);
    expect(await ownersOf(iam, "other")).toEqual([owner]);
    await runJob(job);
    expect(await recorded()).toEqual([owner]);
  });
});

test("the cookie of a login is for these pages only", async () => {
  const { url } = await linkOf(iam, "other");
  const browser = new Browser(iam.origin);
  await browser.open(url, from());
  expect(browser.lines).toEqual([
    expect.stringMatching(
      /^svc-iam-bootstrap=[\w.-]+; Max-Age=1800; Path=\/v1\/iam\/ui\/bootstrap; HttpOnly; SameSite=Lax$/,
    ),
    expect.stringMatching(
      /^iam_browser=[\w-]{43}; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Lax$/,
    ),
  ]);
});

describe("a callback that makes nobody the owner [IDP-25]", () => {
  const failures = async () => {
    const events = await auditEvents(iam, { type: "bootstrap.failed" });
    return events.map(({ subject, data }) => `${subject} ${data.details?.["reason"]}`);
  };

  test.each<[string, (url: URL) => void]>([
    ["without its state", (url) => url.searchParams.delete("state")],
    ["with another state", (url) => url.searchParams.set("state", "x".repeat(43))],
    ["with two states", (url) => url.searchParams.append("state", "x")],
    ["without its code", (url) => url.searchParams.delete("code")],
    ["with another code", (url) => url.searchParams.set("code", "x".repeat(43))],
    ["with two codes", (url) => url.searchParams.append("code", "x")],
    ["with another issuer", (url) => url.searchParams.set("iss", "https://evil.example")],
    ["without the issuer, which the provider announces", (url) => url.searchParams.delete("iss")],
  ])("%s", async (_, change) => {
    const { url } = await linkOf(iam, "other");
    const browser = new Browser(iam.origin);
    const callback = await untilCallback(browser, url);
    change(callback);
    const before = (await failures()).length;
    expect((await browser.open(callback.href, from())).status).toBe(400);
    expect(await ownersOf(iam, "other")).toEqual([]);
    expect((await failures()).slice(0, -before || undefined)).toEqual(["zone:other refused"]);
  });

  test.each<[string, (kept: string) => readonly string[]]>([
    ["in another browser", () => []],
    ["with an empty cookie", () => [""]],
    ["with the cookie's link only", (kept) => [kept.split(".")[0] ?? ""]],
    ["with another secret", (kept) => [`${kept.split(".")[0]}.${"A".repeat(43)}`]],
    ["with another link", (kept) => [`${"A".repeat(43)}.${kept.split(".")[1]}`]],
    ["with the cookie twice", (kept) => [kept, kept]],
  ])("%s", async (_, cookies) => {
    const { url } = await linkOf(iam, "other");
    const browser = new Browser(iam.origin);
    const callback = await untilCallback(browser, url);
    const cookie = cookies(browser.cookie(COOKIE) ?? "")
      .map((value) => `${COOKIE}=${value}`)
      .join("; ");
    const headers = { cookie };
    const { status, text } = await open(iam, `${callback.pathname}${callback.search}`, { headers });
    expect([400, 404]).toContain(status);
    expect(text).not.toContain("has an owner");
    expect(await ownersOf(iam, "other")).toEqual([]);
  });

  test("in a browser that got the cookie from another host of the domain", async () => {
    const { url } = await linkOf(iam, "other");
    const [attacker, victim] = [new Browser(iam.origin), new Browser(iam.origin)];
    const callback = await untilCallback(attacker, url);
    // The victim is at a link of its own, and knows its browser.
    const own = await linkOf(iam, "other");
    const ownCallback = await untilCallback(victim, own.url);
    const planted = attacker.cookie(COOKIE) ?? "";
    const kept = victim.cookie(COOKIE) ?? "";
    for (const cookie of [planted, `${planted}; ${COOKIE}=${kept}`]) {
      victim.setCookie(COOKIE, cookie, "/v1/iam/ui/bootstrap");
      expect((await victim.open(callback.href, from())).status).toBe(400);
      expect(await ownersOf(iam, "other")).toEqual([]);
    }
    // The planted one does not hinder the victim.
    expect((await victim.open(ownCallback.href, from())).status).toBe(200);
    expect(await ownersOf(iam, "other")).toEqual([owner]);
  });

  test("of a link that another one was faster than", async () => {
    const [first, second] = [await linkOf(iam, "other"), await linkOf(iam, "other")];
    const browsers = [new Browser(iam.origin), new Browser(iam.origin)] as const;
    const callbacks = [
      await untilCallback(browsers[0], first.url),
      await untilCallback(browsers[1], second.url),
    ] as const;
    const done = await Promise.all(
      [0, 1].map((index) =>
        (browsers[index] as Browser).open((callbacks[index] as URL).href, from()),
      ),
    );
    expect(done.map(({ status }) => status).sort()).toEqual([200, 409]);
    expect(await ownersOf(iam, "other")).toEqual([owner]);
  });

  test("by POST", async () => {
    const { path } = await linkOf(iam, "other");
    const { status, headers } = await open(iam, path, { method: "POST" });
    expect([status, headers.get("allow")]).toEqual([405, "GET, HEAD"]);
  });

  test("with an unknown link, which begins no login", async () => {
    const page = await open(iam, `/v1/iam/ui/bootstrap?token=${"A".repeat(43)}`);
    expect([page.status, page.headers.getSetCookie()]).toEqual([404, []]);
  });
});
