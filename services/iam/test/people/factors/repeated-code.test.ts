/** The code of a second factor that is sent twice, as by a double click. */
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { Factors } from "../../../src/people/factors/factors.ts";
import { totpCode } from "../../../src/people/factors/one-time-codes.ts";
import { Browser } from "../../support/browser.ts";
import { addUser, startSelf, userId } from "../../support/browser-login.ts";
import { addFactor, wrongCode } from "../../support/factors.ts";
import type { IamService } from "../../support/iam-service.ts";
import { PASSWORD } from "../../support/memory-accounts.ts";

let iam: IamService;
beforeAll(async () => {
  iam = await startSelf();
});
afterAll(() => iam.stop());
afterEach(() => vi.restoreAllMocks());

let made = 0;
/** A new user with an app, whose password was right. */
async function enterPassword(browser = new Browser(iam.origin)) {
  const username = `user${made++}`;
  await addUser(iam, username);
  const secret = await addFactor(iam, await userId(iam, username));
  const page = await browser.open(`${iam.origin}/v1/iam/oidc/account`);
  const asked = await browser.submit(page, { action: "login", username, password: PASSWORD });
  const code = totpCode(secret, Math.floor(Date.now() / 30_000));
  const send = (text = code) => browser.send(asked, { action: "code", code: text });
  return { browser, username, secret, page, asked, send };
}

test("the second answer leads on, too [FACTOR-5]", async () => {
  const { browser, username, send } = await enterPassword();
  const first = await send();
  const second = await send();
  expect([first.status, second.status, second.next]).toEqual([303, 303, first.next]);
  const account = await browser.open(new URL(second.next, iam.origin).href);
  expect([account.status, account.text]).toEqual([200, expect.stringContaining(username)]);
});

test("so does one whose code was used while it was looked at [FACTOR-5]", async () => {
  const { send } = await enterPassword();
  const { verifyCode } = Factors.prototype;
  let isFirst = true;
  let next: string | undefined;
  vi.spyOn(Factors.prototype, "verifyCode").mockImplementation(async function (
    this: Factors,
    ...all
  ) {
    if (isFirst) {
      isFirst = false;
      next = (await send()).next;
    }
    return verifyCode.apply(this, all);
  });
  const answer = await send();
  expect([answer.status, answer.next]).toEqual([303, next]);
});

test("a code without a login that is complete leads nowhere [FACTOR-5]", async () => {
  const { secret, send } = await enterPassword();
  expect((await send(wrongCode(secret))).status).toBe(401);
  expect((await send(wrongCode(secret))).status).toBe(401);
});

test("the login of another account in the same place is not that of the code [FACTOR-5]", async () => {
  const { browser, page, send, secret } = await enterPassword();
  const username = `user${made++}`;
  await addUser(iam, username);
  const other = await browser.send(page, { action: "login", username, password: PASSWORD });
  expect(other.status).toBe(303);
  expect((await send(wrongCode(secret))).status).toBe(401);
});
