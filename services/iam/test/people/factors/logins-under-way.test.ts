/** Logins whose password was right before the account got, or had to have, a second factor. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { totpCode } from "../../../src/people/factors/one-time-codes.ts";
import { relationship } from "../../rights/rights-engine.ts";
import { Browser } from "../../support/browser.ts";
import { addUser, databaseOf, startSelf, userId } from "../../support/browser-login.ts";
import { addFactor } from "../../support/factors.ts";
import type { IamService } from "../../support/iam-service.ts";
import { PASSWORD } from "../../support/memory-accounts.ts";

const ENDED = "The login was ended while it was under way. Begin it again.";
let iam: IamService;
beforeAll(async () => {
  iam = await startSelf({ iam: { second_factor: { required_for: ["user_manager"] } } });
});
afterAll(() => iam.stop());

const at = (path = "") => `${iam.origin}/v1/iam/oidc/account${path}`;
const step = () => Math.floor(Date.now() / 30_000);
const isLoggedIn = async (browser: Browser) => (await browser.request(at())).status === 200;

let made = 0;
/** A new user. @returns the name and the id */
async function newUser() {
  const username = `user${made++}`;
  await addUser(iam, username);
  return { username, id: await userId(iam, username) };
}

/** Enters the password, and goes no further. */
async function enterPassword(username: string) {
  const browser = new Browser(iam.origin);
  const form = { action: "login", username, password: PASSWORD };
  const page = await browser.open(at());
  return { browser, page, sent: await browser.send(page, form) };
}

async function logIn(username: string): Promise<Browser> {
  const { browser, sent } = await enterPassword(username);
  await browser.open(new URL(sent.next, iam.origin).href);
  return browser;
}

/** Grants a role that requires a factor. */
async function grantRole(id: string): Promise<void> {
  const { engine } = iam.options;
  if (engine === undefined) throw new Error("the service has no engine");
  const granted = relationship(`zone:acme#user_manager@user:${id}`);
  await engine.writeRelationships({ updates: [{ operation: "TOUCH", relationship: granted }] });
}

describe("a password was right, and the browser has not come back for the session:", () => {
  const CHANGES: readonly [string, (id: string) => Promise<unknown>][] = [
    ["a factor was added", (id) => addFactor(iam, id)],
    ["a role was granted that requires a factor", grantRole],
  ];
  test.each(CHANGES)("nobody is logged in once %s [FACTOR-4, FACTOR-5]", async (_, change) => {
    const { username, id } = await newUser();
    const { browser, sent } = await enterPassword(username);
    expect(sent.status).toBe(303);
    await change(id);
    const resumed = await browser.open(new URL(sent.next, iam.origin).href);
    expect([resumed.status, resumed.text]).toEqual([400, expect.stringContaining(ENDED)]);
    expect(await isLoggedIn(browser)).toBe(false);
    const sessions = await databaseOf(iam)
      .kysely.selectFrom("iam_sessions")
      .selectAll()
      .where("account_id", "=", id)
      .execute();
    expect(sessions).toEqual([]);
  });

  test("somebody is logged in where nothing has changed", async () => {
    const { username } = await newUser();
    expect(await isLoggedIn(await logIn(username))).toBe(true);
  });
});

test("a factor of the login that was removed meanwhile does not count [FACTOR-5]", async () => {
  const { username, id } = await newUser();
  await grantRole(id);
  const { browser, page, sent } = await enterPassword(username);
  const secret = (/<code>([A-Z2-7 ]+)<\/code>/.exec(sent.text)?.[1] ?? "").replaceAll(" ", "");
  const codes = await browser.send(
    { ...page, text: sent.text },
    { action: "code", code: totpCode(secret, step()) },
  );
  expect(codes.text).toContain("Your recovery codes");
  const { kysely } = databaseOf(iam);
  await kysely.deleteFrom("iam_second_factors").where("account_id", "=", id).execute();
  const done = await browser.send({ ...page, text: codes.text }, { action: "code" });
  const resumed = await browser.open(new URL(done.next, iam.origin).href);
  expect([resumed.status, resumed.text]).toEqual([400, expect.stringContaining(ENDED)]);
  expect(await isLoggedIn(browser)).toBe(false);
});

describe("a session began with the password alone, and the account has a factor now:", () => {
  test.each(["", "/factors", "/password", "/sessions"])(
    "the page account%s asks for a login with it, and its forms do nothing [FACTOR-5]",
    async (path) => {
      const { username, id } = await newUser();
      const browser = await logIn(username);
      const page = await browser.open(at(path));
      expect(page.url).toBe(at(path));
      const secret = await addFactor(iam, id);
      for (const action of ["codes", "remove", "save", "end_others"]) {
        const sent = await browser.send(page, { action });
        expect([sent.status, sent.next]).toEqual([403, ""]);
      }
      // The provider asks for the login, although the session is fresh.
      const asked = await browser.open(at(path));
      expect(asked.text).toContain('name="password"');
      const form = { action: "login", username, password: PASSWORD };
      const second = await browser.submit(asked, form);
      expect(second.text).toContain("Confirm that it is you");
      const code = { action: "code", code: totpCode(secret, step()) };
      expect((await browser.submit(second, code)).url).toBe(at(path));
    },
  );

  test("it approves nothing, such as another application, without a page [FACTOR-5]", async () => {
    const { username, id } = await newUser();
    const browser = await logIn(username);
    await addFactor(iam, id);
    const query = new URL((await browser.request(at())).headers.get("location") ?? "").searchParams;
    query.set("prompt", "none");
    const refused = await browser.request(`${iam.origin}/v1/iam/oidc/auth?${query}`);
    expect(refused.headers.get("location")).toContain("error=login_required");
  });
});

test("whoever adds the factor goes on in the same session, and it counts as one that used it [FACTOR-5]", async () => {
  const { username, id } = await newUser();
  const browser = await logIn(username);
  const list = await browser.open(at("/factors"));
  const page = await browser.submit(list, { action: "new_app" });
  const secret = (/<code>([A-Z2-7 ]+)<\/code>/.exec(page.text)?.[1] ?? "").replaceAll(" ", "");
  const done = await browser.submit(page, { action: "app", code: totpCode(secret, step()) });
  expect(done.text).toContain("Your recovery codes");
  expect((await browser.open(at("/factors"))).url).toBe(at("/factors"));
  const sessions = await databaseOf(iam)
    .kysely.selectFrom("iam_sessions")
    .selectAll()
    .where("account_id", "=", id)
    .execute();
  expect(sessions).toHaveLength(1);
  expect(sessions[0]?.user_agent).not.toBe("");
});
