/** The form of new recovery codes, also if it is sent twice, as by F5 on the page that shows them. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { totpCode } from "../../src/people/factors/one-time-codes.ts";
import { Browser, fieldOf, type Visit } from "../support/browser.ts";
import { databaseOf, startSelf } from "../support/browser-login.ts";
import { auditEvents, type IamService } from "../support/iam-service.ts";
import { PASSWORD } from "../support/memory-accounts.ts";

const CHANGED = "Your recovery codes have changed since the form was shown";
let iam: IamService;
let alice: Browser;
beforeAll(async () => {
  iam = await startSelf();
  alice = new Browser(iam.origin);
  const login = { action: "login", username: "alice", password: PASSWORD };
  const list = await alice.submit(await alice.open(url()), login);
  const page = await alice.submit(list, { action: "new_app" });
  const secret = (/<code>([A-Z2-7 ]+)<\/code>/.exec(page.text)?.[1] ?? "").replaceAll(" ", "");
  const code = totpCode(secret, Math.floor(Date.now() / 30_000));
  expect((await alice.submit(page, { action: "app", code })).text).toContain("Your recovery codes");
});
afterAll(() => iam.stop());

const url = () => `${iam.origin}/v1/iam/oidc/account/factors`;
const stored = () =>
  databaseOf(iam)
    .kysely.selectFrom("iam_recovery_codes")
    .selectAll()
    .orderBy("code_hash")
    .execute();

test("the page says that the former codes end, also to who hears the button alone [FACTOR-2]", async () => {
  const { text } = await alice.open(url());
  expect(text).toContain(
    '<p id="new-codes">When you make new recovery codes, the former ones no longer work.</p>',
  );
  expect(text).toMatch(/<button[^>]* value="codes" aria-describedby="new-codes">/);
});

test("sent again, it changes nothing and says so; the form of the page after it counts [FACTOR-2]", async () => {
  const page = await alice.open(url());
  const first = await alice.submit(page, { action: "codes" });
  expect(first.text).toContain("Your recovery codes</h2>");
  const codes = await stored();
  expect(codes).toHaveLength(10);
  const second = await alice.submit(page, { action: "codes" });
  expect([second.status, second.text]).toEqual([200, expect.stringContaining(CHANGED)]);
  expect(await stored()).toEqual(codes);
  expect(await auditEvents(iam, { type: "recovery_code.made" })).toHaveLength(1);
  const third = await alice.submit(second, { action: "codes" });
  expect(third.text).toContain("Your recovery codes</h2>");
  expect(await stored()).not.toEqual(codes);
});

test.each<[string, (page: Visit) => Record<string, string>]>([
  ["none", () => ({})],
  ["an empty one", () => ({ former_codes: "" })],
  ["a made-up one", () => ({ former_codes: "x" })],
  ["that of a passkey", ({ text }) => ({ former_codes: pendingOf(text) })],
  ["the token of the form", (page) => ({ former_codes: fieldOf(page, "form_token") })],
])("with %s in place of which codes it replaces, it replaces none [FACTOR-2]", async (_, made) => {
  const page = await alice.open(url());
  const codes = await stored();
  const fields = { form_token: fieldOf(page, "form_token"), action: "codes", ...made(page) };
  const sent = await alice.open(url(), { method: "POST", body: new URLSearchParams(fields) });
  expect([sent.status, sent.text]).toEqual([403, expect.stringContaining("The form has expired.")]);
  expect(await stored()).toEqual(codes);
});

function pendingOf(text: string): string {
  return /<input name="pending" type="hidden" value="([^"]*)"/.exec(text)?.[1] ?? "";
}
