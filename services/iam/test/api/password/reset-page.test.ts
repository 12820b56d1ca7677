/** The page by whose link a new password is set. */

import type { ServiceDatabase } from "svc-access/database";
import { type AuditEvent, openAuditLog } from "svc-access/runtime";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { PasswordTables } from "../../../src/ground/store/password-tables.ts";
import { STYLE_SOURCE } from "../../../src/pages/style-sheet.ts";
import { RESET_LINK_LIFE_MS, ResetLinks } from "../../../src/people/accounts/reset-links.ts";
import type { Browser } from "../../support/browser.ts";
import { databaseOf } from "../../support/browser-login.ts";
import { everythingStored } from "../../support/everything-stored.ts";
import { AS_HUB, asUser, type IamService, startIam } from "../../support/iam-service.ts";
import { logInAt, loginUrlAt, withToken } from "../../support/log-in-at.ts";
import {
  newBrowser as browserOf,
  canLogIn,
  NEW,
  OLD,
  ROOT,
  resetLinkOf,
  sendReset,
  startUsers,
} from "../../support/passwords.ts";

const PATH = "/v1/iam/ui/password-reset";
const COOKIE = "iam_password_reset";

let iam: IamService;
let users: Record<string, string>;
beforeAll(async () => {
  iam = await startIam();
  users = await startUsers(iam, ["alice", "bob", "carol", "dave", "erin", "frank", "grace"]);
});
afterAll(() => iam.stop());

const idOf = (username: string) => users[username] ?? "";
const linksOf = (now?: () => number) =>
  new ResetLinks((databaseOf(iam) as ServiceDatabase<unknown>).as<PasswordTables>(), now);

const newBrowser = (at = iam) => browserOf(at);

async function events(type: string, at = iam): Promise<readonly AuditEvent[]> {
  const log = await openAuditLog(at.options.configuration);
  const page = await log.list({ type }, { pageSize: 500 });
  await log.close();
  return page.events;
}

describe("a link that cannot be used", () => {
  /** The link of a token that is made from that of a link that works. */
  const urls: readonly [string, (token: string) => Promise<string>][] = [
    ["without a token", async () => "?token="],
    ["with another token", async () => `?token=${"A".repeat(43)}`],
    ["that was cut", async (token) => `?token=${token.slice(0, -1)}`],
    ["with its token twice", async (token) => `?token=${token}&token=${token}`],
    ["with SQL", async (token) => `?token=${encodeURIComponent(`${token}' or '1'='1`)}`],
    ["with HTML", async () => `?token=${encodeURIComponent("<script>alert(1)</script>")}`],
    [
      "that was replaced",
      async (token) => {
        await linksOf().make(idOf("alice"), ROOT);
        return `?token=${token}`;
      },
    ],
    [
      "that has expired",
      async () => {
        const { token } = await linksOf(() => Date.now() - RESET_LINK_LIFE_MS).make(
          idOf("alice"),
          ROOT,
        );
        return `?token=${token}`;
      },
    ],
    [
      "that was used",
      async (token) => {
        const database = databaseOf(iam) as ServiceDatabase<unknown>;
        const link = await linksOf().find(token);
        if ("reason" in link) return expect.fail(link.reason);
        await database.as<PasswordTables>().inTransaction((tx) => linksOf().use(link, tx));
        return `?token=${token}`;
      },
    ],
    [
      "of a user who does not exist",
      async () => `?token=${(await linksOf().make("gone", ROOT)).token}`,
    ],
    [
      "of a user who is disabled",
      async () => {
        const { kysely } = databaseOf(iam);
        const users = kysely.updateTable("iam_users").where("id", "=", idOf("frank"));
        await users.set({ disabled: 1 }).execute();
        return `?token=${(await linksOf().make(idOf("frank"), ROOT)).token}`;
      },
    ],
  ];
  const answers = new Set<string>();
  test.each(urls)("%s gets the same response as all others [IDP-30]", async (_, urlOf) => {
    const { token } = await linksOf().make(idOf("alice"), ROOT);
    const browser = newBrowser();
    const response = await browser.request(`${iam.origin}${PATH}${await urlOf(token)}`);
    const id = response.headers.get("x-request-id") ?? "";
    const text = (await response.text()).replace(id, "ID");
    expect(text).toContain("The link does not work");
    expect(text).toContain("Request: <code>ID</code>");
    for (const mark of ["<script", "<form", "alice", token]) expect(text).not.toContain(mark);
    const { headers, status } = response;
    const shown = ["content-type", "set-cookie", "content-length", "cache-control", "location"];
    answers.add(JSON.stringify([status, text, shown.map((name) => headers.get(name))]));
    expect([...answers]).toHaveLength(1);
    expect(status).toBe(404);
    expect(browser.cookie(COOKIE)).toBeUndefined();
  });

  test("is audited with the reason, and with the user where it is known [IDP-23]", async () => {
    const seen = (await events("password.reset_failed")).map(({ subject, data }) =>
      JSON.stringify([subject, data.risk_level, data.details]),
    );
    const of = (username: string | undefined, reason: string) =>
      JSON.stringify([username && `user:${idOf(username)}`, "MEDIUM", { reason }]);
    expect(seen).toEqual(
      expect.arrayContaining([
        of(undefined, "unknown"),
        of("alice", "used"),
        of("alice", "expired"),
        of("frank", "disabled"),
      ]),
    );
  });

  test("names its user also after many failures of another [IDP-23]", async () => {
    const browser = newBrowser();
    const open = (token: string) => browser.request(`${iam.origin}${PATH}?token=${token}`);
    const make = linksOf(() => Date.now() - RESET_LINK_LIFE_MS);
    const [first, second] = ["grace", "bob"].map(idOf);
    // More than the events of this address in a minute, for failures with the same reason.
    for (let count = 0; count < 11; count++) {
      const { token } = await make.make(first ?? "", ROOT);
      await open(token);
    }
    const { token } = await make.make(second ?? "", ROOT);
    await open(token);
    const subjects = (await events("password.reset_failed")).map(({ subject }) => subject);
    expect(subjects).toContain(`user:${second}`);
  });

  test("is not made for a user who is disabled", async () => {
    const path = `/v1/users/${idOf("frank")}/password-reset-links`;
    expect((await iam.call("POST", path, {}, asUser("root"))).status).toBe(412);
  });
});

test("a link shows a form, whose address does not have the token [IDP-30]", async () => {
  const { url, token } = await resetLinkOf(iam, idOf("alice"));
  const browser = newBrowser();
  const opened = await browser.request(url);
  expect([opened.status, opened.headers.get("location")]).toEqual([303, PATH]);
  expect(opened.headers.getSetCookie()).toEqual([
    expect.stringMatching(
      new RegExp(
        `^${COOKIE}=${token}\\.[\\w-]{43}; Max-Age=3600; Path=${PATH}; HttpOnly; SameSite=Lax$`,
      ),
    ),
    // As long as a session lasts that the browser may have.
    expect.stringMatching(
      /^iam_browser=[\w-]{43}; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Lax$/,
    ),
  ]);
  expect(await opened.text()).not.toContain(token);
  const page = await browser.request(`${iam.origin}${PATH}`);
  for (const { headers } of [opened, page]) {
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("referrer-policy")).toBe("no-referrer");
  }
  expect(page.headers.get("content-security-policy")).toBe(
    `default-src 'none'; style-src ${STYLE_SOURCE}; img-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`,
  );
  const text = await page.text();
  expect(text).toContain("<strong><bdi>alice</bdi></strong>");
  expect(text).not.toContain(token);
  expect(text).not.toContain("<script");
  // Whoever only opens it, such as a scanner of mail, uses nothing.
  for (let count = 0; count < 3; count++) await newBrowser().open(url);
  expect((await browser.open(url)).status).toBe(200);
  expect(await canLogIn(iam, "alice", OLD)).toBe(true);
});

test.each<[string, Readonly<Record<string, string>>, string]>([
  ["a short password", { password: "short", repeated: "short" }, "must have at least 12"],
  ["a common password", { password: "password1234", repeated: "password1234" }, "is one of the"],
  ["the user name", { password: "bobbobbob-42x", repeated: "bobbobbob-42x" }, "consist of the"],
  ["two passwords", { repeated: "eleven purple walruses sang" }, "The second password is another"],
  ["no passwords", { password: "", repeated: "" }, "must have at least 12"],
])("with %s the form is shown again, and the link still works", async (_, fields, problem) => {
  const { url } = await resetLinkOf(iam, idOf("bob"));
  const browser = newBrowser();
  const again = await sendReset(browser, url, fields);
  expect(again.status).toBe(400);
  expect(again.text).toContain(problem);
  for (const value of [NEW, ...Object.values(fields)]) {
    if (value.length > 7) expect(again.text).not.toContain(value);
  }
  expect((await newBrowser().open(url)).status).toBe(200);
  expect(await canLogIn(iam, "bob", OLD)).toBe(true);
});

describe("a form that is refused sets no password", () => {
  test.each<[string, number, RequestInit]>([
    ["another site", 403, { headers: { "sec-fetch-site": "cross-site" } }],
    ["a sibling", 403, { headers: { "sec-fetch-site": "same-site" } }],
    ["another origin", 403, { headers: { origin: "https://evil.example" } }],
    ["a client that sends JSON", 415, { headers: { "content-type": "application/json" } }],
    ["a client that sends text", 415, { headers: { "content-type": "text/plain" } }],
    ["a client that sends too much", 413, { body: new URLSearchParams({ x: "x".repeat(17_000) }) }],
    ["a client that sends nothing", 403, { body: new URLSearchParams() }],
    ["a client with another method", 405, { method: "PUT" }],
  ])("of %s", async (_, status, init) => {
    const { url } = await resetLinkOf(iam, idOf("bob"));
    expect((await sendReset(newBrowser(), url, {}, init)).status).toBe(status);
    expect((await newBrowser().open(url)).status).toBe(200);
    expect(await canLogIn(iam, "bob", OLD)).toBe(true);
  });

  test.each<[string, (browser: Browser, other: Browser) => void]>([
    ["without its cookie", (browser) => browser.setCookie(COOKIE, "", PATH)],
    [
      "in a browser that has opened another link since",
      (browser, other) => {
        browser.setCookie(COOKIE, other.cookie(COOKIE) ?? "", PATH);
        browser.setCookie("iam_browser", other.cookie("iam_browser") ?? "");
      },
    ],
    [
      "with the cookie of another browser",
      (browser, other) => browser.setCookie(COOKIE, other.cookie(COOKIE) ?? "", PATH),
    ],
    [
      "without the identity of its browser",
      (browser) => browser.setCookie("iam_browser", "x".repeat(43)),
    ],
    [
      "with a cookie of its link that was not given here",
      (browser) => {
        const [token = ""] = browser.cookie(COOKIE)?.split(".") ?? [];
        browser.setCookie(COOKIE, token, PATH);
      },
    ],
  ])("a form that comes %s sets no password [IDP-12]", async (_, change) => {
    const [browser, other] = [newBrowser(), newBrowser()];
    const page = await browser.open((await resetLinkOf(iam, idOf("bob"))).url);
    await other.open((await resetLinkOf(iam, idOf("carol"))).url);
    change(browser, other);
    const sent = await browser.submit(page, { password: NEW, repeated: NEW });
    expect(sent.status).toBe(403);
    expect(await canLogIn(iam, "bob", OLD)).toBe(true);
    expect(await canLogIn(iam, "carol", OLD)).toBe(true);
  });
});

describe("a cookie that another host of the domain has planted [IDP-18]", () => {
  /** The attacker has opened the link of carol, and the victim has been here before. */
  async function browsers() {
    const [attacker, victim] = [newBrowser(), newBrowser()];
    await attacker.open((await resetLinkOf(iam, idOf("carol"))).url);
    await victim.open((await resetLinkOf(iam, idOf("bob"))).url);
    return { victim, planted: attacker.cookie(COOKIE) ?? "", own: victim.cookie(COOKIE) ?? "" };
  }

  test("shows no form of its link", async () => {
    const { victim, planted } = await browsers();
    victim.setCookie(COOKIE, planted, PATH);
    const page = await victim.open(`${iam.origin}${PATH}`);
    expect([page.status, page.text]).toEqual([404, expect.not.stringContaining("carol")]);
  });

  test.each([
    ["before the own one", (planted: string, own: string) => `${planted}; ${COOKIE}=${own}`],
    ["after the own one", (planted: string, own: string) => `${own}; ${COOKIE}=${planted}`],
    ["with a made-up mark", (planted: string, own: string) => `${planted}x; ${COOKIE}=${own}`],
  ])("does not hinder who has opened a link, %s", async (_, both) => {
    const { victim, planted, own } = await browsers();
    victim.setCookie(COOKIE, both(planted, own), PATH);
    const page = await victim.open(`${iam.origin}${PATH}`);
    expect([page.status, page.text]).toEqual([200, expect.stringContaining("bob")]);
    expect(page.text).not.toContain("carol");
    const sent = await victim.submit(page, { password: "short", repeated: "short" });
    expect([sent.status, sent.text]).toEqual([400, expect.stringContaining("bob")]);
  });
});

test("a link sets the password once, and ends all sessions [IDP-29]", async () => {
  const tokens = await logInAt(iam, "grace", OLD);
  const { url } = await resetLinkOf(iam, idOf("grace"));
  const browser = newBrowser();
  // As browsers send it from a page without referrer.
  const headers = { origin: "null", "sec-fetch-site": "same-origin" };
  const done = await sendReset(browser, url, {}, { headers });
  expect([done.status, done.text]).toEqual([200, expect.stringContaining("The password was set")]);
  // For a while, so that the page can be loaded again.
  expect(browser.lines.at(-2)).toMatch(
    /^iam_password_reset=[\w-]{43}\.set\.[\w-]{43}; Max-Age=600;/,
  );
  const me = async () => (await iam.call("GET", "/v1/iam/me", undefined, withToken(tokens))).status;
  await expect.poll(me, { message: "the earlier session is refused", interval: 10 }).toBe(401);
  const { refreshToken } = tokens;
  expect((await iam.call("POST", "/v1/iam/tokens:refresh", { refreshToken }, AS_HUB)).status).toBe(
    400,
  );
  expect(await canLogIn(iam, "grace", OLD)).toBe(false);
  expect(await canLogIn(iam, "grace", NEW)).toBe(true);
  expect((await newBrowser().open(url)).status).toBe(404);
  const [event] = (await events("password.reset")).filter(
    ({ subject }) => subject === `user:${idOf("grace")}`,
  );
  expect(event?.data).toMatchObject({ rpc: PATH, risk_level: "HIGH", details: { sessions: 1 } });
});

test("of several forms of one link that are sent at once one counts [IDP-29]", async () => {
  const { url } = await resetLinkOf(iam, idOf("dave"));
  const passwords = ["one", "two", "three", "four"].map((name) => `${name} purple walruses sing`);
  const pages = await Promise.all(
    passwords.map(async (password) => {
      const browser = newBrowser();
      return { browser, password, page: await browser.open(url) };
    }),
  );
  const sent = await Promise.all(
    pages.map(async ({ browser, password, page }) => {
      const { status } = await browser.submit(page, { password, repeated: password });
      return { password, status };
    }),
  );
  expect(sent.map(({ status }) => status).sort()).toEqual([200, 404, 404, 404]);
  for (const { password, status } of sent) {
    expect(await canLogIn(iam, "dave", password)).toBe(status === 200);
  }
});

test("a login that began with the former password is not completed with it [IDP-28]", async () => {
  const { url } = await resetLinkOf(iam, idOf("erin"));
  const thief = newBrowser();
  const query = new URLSearchParams({
    redirect_uri: "https://console.example.com/callback",
    code_challenge: "A".repeat(43),
  });
  const page = await thief.open(await loginUrlAt(iam, query));
  const action = new URLSearchParams({ action: "login", username: "erin", password: OLD });
  action.set("form_token", /name="form_token" value="([^"]*)"/.exec(page.text)?.[1] ?? "");
  // The password is right; the browser does not follow the redirect yet.
  const entered = await thief.request(page.url, { method: "POST", body: action });
  expect(entered.status).toBe(303);
  const before = thief.cookie("iam_session");
  expect((await sendReset(newBrowser(), url)).status).toBe(200);
  const resumed = await thief.open(new URL(entered.headers.get("location") ?? "", page.url).href);
  expect(resumed.url).not.toContain("code=");
  expect(resumed.status).toBe(400);
  expect(resumed.text).toContain("The login was ended while it was under way.");
  expect(thief.cookie("iam_session")).toBe(before);
  const { kysely } = databaseOf(iam);
  const sessions = kysely.selectFrom("iam_sessions").where("account_id", "=", idOf("erin"));
  expect(await sessions.where("ended_time", "is", null).selectAll().execute()).toEqual([]);
  expect(await canLogIn(iam, "erin", NEW)).toBe(true);
});

test("whoever guesses links is slowed by address", async () => {
  const statuses = new Set<number>();
  for (let count = 0; count < 30; count++) {
    const response = await fetch(`${iam.origin}${PATH}?token=x`, {
      headers: { "x-forwarded-for": "203.0.113.9" },
    });
    statuses.add(response.status);
  }
  expect([...statuses].sort()).toEqual([404, 429]);
});

test("neither audit nor database has the token or the passwords of a link [IDP-23, IDP-29]", async () => {
  const other = await startIam();
  const { root: _, ...made } = await startUsers(other, ["alice"]);
  const { url, token } = await resetLinkOf(other, made["alice"] ?? "");
  const wrong = "elevenchars";
  await sendReset(newBrowser(other), url, { password: wrong, repeated: wrong });
  expect((await sendReset(newBrowser(other), url)).status).toBe(200);
  const changed = { currentPassword: NEW, newPassword: "a password that was chosen later" };
  const as = asUser(made["alice"] ?? "");
  expect((await other.call("POST", "/v1/iam/me/password:change", changed, as)).status).toBe(200);
  await other.stop();
  const kept = await everythingStored(other);
  expect(kept).toContain("password.reset_link_made");
  expect(kept).toContain("password.changed");
  for (const secret of [token, wrong, OLD, NEW, changed.newPassword]) {
    expect(kept).not.toContain(secret);
  }
});
