/** The form of a new authenticator app that is sent twice, as by a double click. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { totpCode } from "../../src/people/factors/one-time-codes.ts";
import { Browser, fieldOf } from "../support/browser.ts";
import { databaseOf, startSelf } from "../support/browser-login.ts";
import type { IamService } from "../support/iam-service.ts";
import { PASSWORD } from "../support/memory-accounts.ts";

let iam: IamService;
beforeAll(async () => {
  iam = await startSelf();
});
afterAll(() => iam.stop());

test("it adds one app, and the page says how to get recovery codes [FACTOR-1, FACTOR-2]", async () => {
  const browser = new Browser(iam.origin);
  const url = `${iam.origin}/v1/iam/oidc/account/factors`;
  const login = { action: "login", username: "alice", password: PASSWORD };
  const list = await browser.submit(await browser.open(url), login);
  const page = await browser.submit(list, { action: "new_app" });
  const secret = (/<code>([A-Z2-7 ]+)<\/code>/.exec(page.text)?.[1] ?? "").replaceAll(" ", "");
  const send = () => {
    const body = new URLSearchParams({
      form_token: fieldOf(page, "form_token"),
      pending: fieldOf(page, "pending"),
      action: "app",
      code: totpCode(secret, Math.floor(Date.now() / 30_000)),
    });
    return browser.open(page.url, { method: "POST", body });
  };
  expect((await send()).text).toContain("Your recovery codes");
  const second = await send();
  expect(second.text).toContain(
    "This app was added. If you have not seen your recovery codes, make new ones below.",
  );
  expect(second.text).toContain("Make new recovery codes");
  const { kysely } = databaseOf(iam);
  expect(await kysely.selectFrom("iam_second_factors").selectAll().execute()).toHaveLength(1);
  expect(await kysely.selectFrom("iam_recovery_codes").selectAll().execute()).toHaveLength(10);
});

test("in a login it leads to the code, and says how to get recovery codes [FACTOR-1, FACTOR-2]", async () => {
  const required = await startSelf({ iam: { second_factor: { required_for: ["everyone"] } } });
  try {
    const browser = new Browser(required.origin);
    const begun = await browser.open(`${required.origin}/v1/iam/oidc/account`);
    const login = { action: "login", username: "bob", password: PASSWORD };
    const page = await browser.submit(begun, login);
    const secret = (/<code>([A-Z2-7 ]+)<\/code>/.exec(page.text)?.[1] ?? "").replaceAll(" ", "");
    const code = totpCode(secret, Math.floor(Date.now() / 30_000));
    const send = () => browser.submit(page, { action: "code", code });
    expect((await send()).text).toContain("Your recovery codes");
    const second = await send();
    expect(second.text).toContain("Confirm that it is you");
    expect(second.text).toContain("make new ones in your account");
    const { kysely } = databaseOf(required);
    expect(await kysely.selectFrom("iam_second_factors").selectAll().execute()).toHaveLength(1);
  } finally {
    await required.stop();
  }
});
