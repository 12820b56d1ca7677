/** Logins whose password, or password and second factor, are entered when all sessions of the user end. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { totpCode } from "../../../src/people/factors/one-time-codes.ts";
import { relationship } from "../../rights/rights-engine.ts";
import { Browser, nextAddress, type Visit } from "../../support/browser.ts";
import { addUser, startSelf, userId } from "../../support/browser-login.ts";
import { addFactor } from "../../support/factors.ts";
import { asUser, type IamService } from "../../support/iam-service.ts";
import { PASSWORD } from "../../support/memory-accounts.ts";

const ENDED = "The login was ended while it was under way. Begin it again.";
let iam: IamService;
beforeAll(async () => {
  iam = await startSelf({
    authn: { mode: "hybrid" },
    iam: { second_factor: { required_for: ["user_manager"] } },
  });
  await grant("owner", "root");
});
afterAll(() => iam.stop());

const at = (path = "") => `${iam.origin}/v1/iam/oidc/account${path}`;
const step = () => Math.floor(Date.now() / 30_000);
const isLoggedIn = async (browser: Browser) => (await browser.request(at())).status === 200;

async function grant(relation: string, id: string): Promise<void> {
  const granted = relationship(`zone:acme#${relation}@user:${id}`);
  await iam.options.engine?.writeRelationships({
    updates: [{ operation: "TOUCH", relationship: granted }],
  });
}

let made = 0;
async function newUser() {
  const username = `ended${made++}`;
  await addUser(iam, username);
  return { username, id: await userId(iam, username) };
}
type User = Awaited<ReturnType<typeof newUser>>;

async function enterPassword({ username }: User) {
  const browser = new Browser(iam.origin, nextAddress());
  const page = await browser.open(at());
  const form = { action: "login", username, password: PASSWORD };
  return { browser, sent: await browser.send(page, form) };
}
type UnderWay = Awaited<ReturnType<typeof enterPassword>>;

/** Goes on with a login. @returns the page that it leads to */
async function resume({ browser, sent }: UnderWay): Promise<Visit> {
  return browser.open(new URL(sent.next, iam.origin).href);
}

const secretOn = ({ text }: { readonly text: string }) =>
  (/<code>([A-Z2-7 ]+)<\/code>/.exec(text)?.[1] ?? "").replaceAll(" ", "");

/** How far logins have come. */
const STAGES: Readonly<Record<string, (user: User) => Promise<UnderWay>>> = {
  "the password is entered": enterPassword,
  "the password and a code are entered": async (user) => {
    const secret = await addFactor(iam, user.id);
    const { browser, sent } = await enterPassword(user);
    const form = { action: "code", code: totpCode(secret, step()) };
    return { browser, sent: await browser.send(sent, form) };
  },
};

const ENDS: Readonly<Record<string, (user: User) => Promise<unknown>>> = {
  "by an administrator": async ({ id }) => {
    const path = `/v1/users/${id}/sessions`;
    const { status } = await iam.call("DELETE", path, undefined, asUser("root"));
    expect(status).toBe(200);
  },
  "by an administrator, who has removed the factors": async (user) => {
    const path = `/v1/users/${user.id}/second-factors`;
    const removed = await iam.call("DELETE", path, undefined, asUser("root"));
    expect(removed.status).toBe(200);
    await ENDS["by an administrator"]?.(user);
  },
};

const CASES = Object.keys(STAGES).flatMap((stage) =>
  Object.keys(ENDS).map((end) => [stage, end] as const),
);
test.each(CASES)(
  "%s: nobody is logged in once all sessions were ended %s [IDP-21]",
  async (stage, end) => {
    const user = await newUser();
    const login = (await STAGES[stage]?.(user)) ?? expect.fail();
    expect(login.sent.status).toBe(303);
    await ENDS[end]?.(user);
    const { status, text } = await resume(login);
    expect([status, text]).toEqual([400, expect.stringContaining(ENDED)]);
    expect(await isLoggedIn(login.browser)).toBe(false);
  },
);

test("the recovery codes of a new factor are shown: likewise [IDP-21]", async () => {
  const user = await newUser();
  await grant("user_manager", user.id);
  const { browser, sent } = await enterPassword(user);
  const form = { action: "code", code: totpCode(secretOn(sent), step()) };
  const codes = await browser.send(sent, form);
  expect(codes.text).toContain("Your recovery codes");
  await ENDS["by an administrator"]?.(user);
  const done = { browser, sent: await browser.send(codes, { action: "code" }) };
  const { status, text } = await resume(done);
  expect([status, text]).toEqual([400, expect.stringContaining(ENDED)]);
  expect(await isLoggedIn(browser)).toBe(false);
});

test("the user ends the other sessions: logins elsewhere end, and the own session goes on [IDP-21]", async () => {
  const user = await newUser();
  const own = await enterPassword(user);
  await resume(own);
  const [first, second] = [await enterPassword(user), await enterPassword(user)];
  await resume(second);
  expect(await isLoggedIn(second.browser)).toBe(true);
  const page = await own.browser.open(at("/sessions"));
  expect((await own.browser.send(page, { action: "all" })).next).toContain("?done=");
  const { status, text } = await resume(first);
  expect([status, text]).toEqual([400, expect.stringContaining(ENDED)]);
  for (const [browser, isIn] of [
    [first.browser, false],
    [second.browser, false],
    [own.browser, true],
  ] as const) {
    expect(await isLoggedIn(browser)).toBe(isIn);
  }
  // Whoever begins again is logged in.
  const again = await enterPassword(user);
  await resume(again);
  expect(await isLoggedIn(again.browser)).toBe(true);
});
