/** The form of the first user that is sent twice, as by a double click, or loaded again. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { LocalAccounts } from "../../src/people/accounts/local-accounts.ts";
import { FIRST, linkOf, open, recordedOwners, send } from "../support/bootstrap.ts";
import { Browser, nextAddress } from "../support/browser.ts";
import { databaseOf } from "../support/browser-login.ts";
import { serviceHasher } from "../support/hash-cost.ts";
import { auditEvents, type IamService, startIam } from "../support/iam-service.ts";

let iam: IamService;
beforeEach(async () => {
  iam = await startIam();
});
afterEach(() => iam.stop());

const users = () => databaseOf(iam).kysely.selectFrom("iam_users").selectAll().execute();
const textOf = (page: string) => page.replaceAll(/<[^>]*>/g, "");

test("it leads to the same page each time, which says how to log in [IDP-8]", async () => {
  const browser = new Browser(iam.origin, nextAddress());
  const page = await browser.open((await linkOf(iam)).url);
  const done = await browser.submit(page, FIRST);
  expect([done.status, textOf(done.text)]).toEqual([
    200,
    expect.stringContaining("root owns acme. The link no longer works."),
  ]);
  expect(done.text).toContain('<a class="button" href="/v1/iam/oidc/account">Log in</a>');
  const again = await browser.submit(page, FIRST);
  expect([again.status, textOf(again.text)]).toEqual([200, textOf(done.text)]);
  // F5 sends no form.
  expect((await browser.open(done.url)).text).toBe(done.text);
  expect(await users()).toHaveLength(1);
  expect(await recordedOwners(iam)).toHaveLength(1);
});

test("it leads there at the same moment, too [IDP-8]", async () => {
  const { token } = await linkOf(iam);
  const sent = await Promise.all([1, 2, 3].map(() => send(iam, { ...FIRST, token })));
  for (const { status, text } of sent) {
    expect([status, textOf(text)]).toEqual([200, expect.stringContaining("root owns acme")]);
  }
  expect(await users()).toHaveLength(1);
  expect(await recordedOwners(iam)).toHaveLength(1);
});

test.each<[string, Readonly<Record<string, string>>]>([
  ["another password", { password: "another battery staple", repeated: "another battery staple" }],
  ["another user name", { username: "other" }],
  ["the user name of somebody else", { username: "bob" }],
  ["no password", { password: "", repeated: "" }],
  ["another link", { token: "A".repeat(43) }],
])("whoever sends the used link with %s hears that it does not work [IDP-8]", async (_, change) => {
  const { token, path } = await linkOf(iam);
  expect((await send(iam, { ...FIRST, token })).status).toBe(200);
  const accounts = new LocalAccounts(databaseOf(iam).kysely, "acme");
  const passwordHash = await serviceHasher.hash(FIRST["password"] ?? "");
  const bob = { username: "bob", displayName: "Bob", email: "bob@example.com", passwordHash };
  await accounts.create(bob);
  const sent = await send(iam, { ...FIRST, token, ...change });
  const opened = await open(iam, path);
  const isKnown = change["token"] === undefined;
  const refusals = [
    [404, expect.stringContaining("The link does not work")],
    [409, expect.stringContaining("already has an owner")],
  ];
  expect([sent.status, sent.text]).toEqual(refusals[isKnown ? 1 : 0]);
  expect([opened.status, opened.text]).toEqual(refusals[1]);
});

test("a used link lets nobody guess the password faster than a login", async () => {
  const { token } = await linkOf(iam);
  expect((await send(iam, { ...FIRST, token })).status).toBe(200);
  const headers = { "x-forwarded-for": nextAddress() };
  const statuses: number[] = [];
  // The page itself is limited by address, too: 20 at once.
  for (let count = 0; count < 15; count++) {
    statuses.push(
      (await send(iam, { ...FIRST, token, password: `guess ${count}` }, headers)).status,
    );
  }
  expect(statuses[0]).toBe(409);
  expect(statuses.at(-1)).toBe(429);
  const events = await auditEvents(iam, { type: "login.slowed" });
  expect(events).toHaveLength(statuses.filter((status) => status === 429).length);
  expect(events[0]?.data.details).toEqual({ reason: "used_link" });
});

test.each(["", "?owner=", "?owner=x", `?owner=${"A".repeat(200)}`])(
  "nobody has become the owner by done%s",
  async (query) => {
    const { status, text } = await open(iam, `/v1/iam/ui/bootstrap/done${query}`);
    expect([status, text]).toEqual([404, expect.stringContaining("The link does not work")]);
  },
);
