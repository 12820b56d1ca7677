/** The form of a new password that is sent twice, as by a double click, or loaded again. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { databaseOf } from "../../support/browser-login.ts";
import { auditEvents, type IamService, startIam } from "../../support/iam-service.ts";
import {
  canLogIn,
  NEW,
  newBrowser,
  OLD,
  resetLinkOf,
  startUsers,
} from "../../support/passwords.ts";

const PATH = "/v1/iam/ui/password-reset";
const FORM = { password: NEW, repeated: NEW };
const OTHER = { password: "seven yellow parrots sing", repeated: "seven yellow parrots sing" };

let iam: IamService;
let users: Record<string, string>;
beforeAll(async () => {
  iam = await startIam();
  users = await startUsers(iam, ["alice", "bob", "carol", "dave", "erin"]);
});
afterAll(() => iam.stop());

const linkOf = (username: string) => resetLinkOf(iam, users[username] ?? "");

async function resets(username: string): Promise<number> {
  const events = await auditEvents(iam, { type: "password.reset" });
  return events.filter(({ subject }) => subject === `user:${users[username]}`).length;
}

test("it leads to the same page each time, which says how to log in [IDP-29]", async () => {
  const browser = newBrowser(iam);
  const page = await browser.open((await linkOf("alice")).url);
  const done = await browser.submit(page, FORM);
  expect([done.status, done.text]).toEqual([200, expect.stringContaining("The password was set")]);
  expect(done.text).toContain('<a class="button" href="/v1/iam/oidc/account">Log in</a>');
  const again = await browser.submit(page, FORM);
  expect([again.status, again.text]).toEqual([200, done.text]);
  // F5 sends no form.
  expect((await browser.open(done.url)).text).toBe(done.text);
  expect(await canLogIn(iam, "alice", NEW)).toBe(true);
  expect(await resets("alice")).toBe(1);
});

test("it leads there at the same moment, too, also if the browser has not got the first answer [IDP-29]", async () => {
  const browser = newBrowser(iam);
  const page = await browser.open((await linkOf("bob")).url);
  const sent = await Promise.all([1, 2, 3].map(() => browser.submit(page, FORM)));
  for (const { status, text } of sent) {
    expect([status, text]).toEqual([200, expect.stringContaining("The password was set")]);
  }
  expect(await resets("bob")).toBe(1);
});

test("the form that comes with another password hears that the link does not work [IDP-29]", async () => {
  const browser = newBrowser(iam);
  const page = await browser.open((await linkOf("carol")).url);
  expect((await browser.submit(page, FORM)).status).toBe(200);
  const other = await browser.submit(page, OTHER);
  expect([other.status, other.text]).toEqual([
    404,
    expect.stringContaining("The link does not work"),
  ]);
  expect(await canLogIn(iam, "carol", NEW)).toBe(true);
  expect(await canLogIn(iam, "carol", OTHER.password)).toBe(false);
});

test("nobody else with the used link sees that page [IDP-30]", async () => {
  const { url, token } = await linkOf("dave");
  const [browser, other, fresh] = [newBrowser(iam), newBrowser(iam), newBrowser(iam)];
  const [page, seen] = [await browser.open(url), await other.open(url)];
  expect((await browser.submit(page, FORM)).status).toBe(200);
  fresh.setCookie("iam_password_reset", browser.cookie("iam_password_reset") ?? "", PATH);
  const visits = [
    await other.submit(seen, OTHER),
    await other.open(`${iam.origin}${PATH}`),
    await fresh.open(`${iam.origin}${PATH}`),
    await newBrowser(iam).open(url),
    await newBrowser(iam).open(`${iam.origin}${PATH}`),
    // The link itself has ended for the one who has used it, too.
    await browser.open(url),
  ];
  for (const { status, text } of visits) {
    expect([status, text]).toEqual([404, expect.stringContaining("The link does not work")]);
    expect(text).not.toContain(token);
  }
});

test("a used link lets nobody guess the password faster than a login", async () => {
  const browser = newBrowser(iam);
  const page = await browser.open((await linkOf("erin")).url);
  expect((await browser.submit(page, FORM)).status).toBe(200);
  const cookie = browser.cookie("iam_password_reset") ?? "";
  const statuses: number[] = [];
  for (let count = 0; count < 12; count++) {
    browser.setCookie("iam_password_reset", cookie, PATH);
    const guess = `guess number ${count}`;
    statuses.push((await browser.submit(page, { password: guess, repeated: guess })).status);
  }
  expect(statuses[0]).toBe(404);
  expect(statuses.at(-1)).toBe(429);
  const events = await auditEvents(iam, { type: "login.slowed" });
  expect(events).toHaveLength(statuses.filter((status) => status === 429).length);
  expect(events[0]).toMatchObject({
    data: { resource: `user:${users["erin"]}`, details: { reason: "used_link" } },
  });
});

test("a link that was replaced is not one that was used, whatever password comes [IDP-29]", async () => {
  const browser = newBrowser(iam);
  const page = await browser.open((await linkOf("alice")).url);
  const next = await linkOf("alice");
  const sent = await browser.submit(page, FORM);
  expect([sent.status, sent.text]).toEqual([404, expect.stringContaining("does not work")]);
  expect((await newBrowser(iam).open(next.url)).status).toBe(200);
  const { kysely } = databaseOf(iam);
  const used = kysely.selectFrom("iam_password_reset_links").select("used_time");
  const row = await used.where("account_id", "=", users["alice"] ?? "").executeTakeFirstOrThrow();
  expect(row.used_time).toBeNull();
  expect(await canLogIn(iam, "alice", OLD)).toBe(false);
});
