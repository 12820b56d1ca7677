import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newTotpSecret, totpCode } from "../../../src/people/factors/one-time-codes.ts";
import { Browser, fieldOf, type Visit } from "../../support/browser.ts";
import { addUser, databaseOf, startSelf } from "../../support/browser-login.ts";
import { wrongCode } from "../../support/factors.ts";
import type { IamService } from "../../support/iam-service.ts";
import { PASSWORD } from "../../support/memory-accounts.ts";

const ACCOUNT = "/v1/iam/oidc/account";
let iam: IamService;
beforeAll(async () => {
  iam = await startSelf();
});
afterAll(() => iam.stop());

const at = (path = "") => `${iam.origin}${ACCOUNT}${path}`;
const now = () => Math.floor(Date.now() / 30_000);
const events = async (type: string) => {
  const rows = await (databaseOf(iam).kysely as any)
    .selectFrom("audit_events")
    .selectAll()
    .execute();
  return rows.filter((row: unknown) => JSON.stringify(row).includes(type));
};

async function enterPassword(username: string, browser: Browser): Promise<Visit> {
  const page = await browser.open(at());
  return browser.submit(page, { action: "login", username, password: PASSWORD });
}

const enterCode = (browser: Browser, page: Visit, code: string) =>
  browser.submit(page, { action: "code", code });

/** Adds an app to a user without factors, whose codes of all steps count. */
async function addApp(username: string) {
  const browser = new Browser(iam.origin);
  await enterPassword(username, browser);
  const list = await browser.open(at("/factors"));
  const page = await browser.submit(list, { action: "new_app" });
  const secret = (/<code>([A-Z2-7 ]+)<\/code>/.exec(page.text)?.[1] ?? "").replaceAll(" ", "");
  const done = await browser.submit(page, { action: "app", code: totpCode(secret, now() - 1) });
  const codes = [...done.text.matchAll(/<li><code>([^<]+)/g)].map(([, code = ""]) => code);
  return { secret, codes, browser };
}

const codesOfOthers = () => Array.from({ length: 9 }, () => totpCode(newTotpSecret(), now()));

describe("alice has an app", () => {
  let secret: string;
  let codes: readonly string[];
  beforeAll(async () => {
    ({ secret, codes } = await addApp("alice"));
  });

  test.each<[string, () => string]>([
    ["nothing", () => ""],
    ["a wrong code", () => wrongCode(secret)],
    ["the code of another secret", () => wrongCode(secret, codesOfOthers())],
    ["a recovery code of nobody", () => "AAAA-AAAA-AAAA-AAAA"],
    ["a long text", () => "1".repeat(10_000)],
  ])("%s is not accepted in place of the code [FACTOR-1]", async (_, code) => {
    const browser = new Browser(iam.origin);
    const page = await enterPassword("alice", browser);
    expect(page.text).toContain("Confirm that it is you");
    const next = await enterCode(browser, page, code());
    expect(next.url).not.toBe(at());
    expect((await browser.request(at())).status).toBe(303);
    // It takes the failures back.
    await databaseOf(iam).kysely.deleteFrom("iam_throttles").execute();
  });

  test("the step cannot be left out, or taken from another browser [FACTOR-5]", async () => {
    const [one, other] = [new Browser(iam.origin), new Browser(iam.origin)];
    const page = await enterPassword("alice", one);
    const begun = await other.open(at());
    const code = totpCode(secret, now());
    const stolen = { action: "code", code, form_token: fieldOf(page, "form_token") };
    expect((await other.submit(begun, stolen)).status).toBe(403);
    for (const action of ["code", "passkey", "consent", "continue", ""]) {
      const fresh = await other.open(at());
      const left = await other.submit(fresh, { action, code, passkey: "{}" });
      expect(left.url).not.toBe(at());
    }
    expect((await other.request(at())).status).toBe(303);
  });

  test("a code and a recovery code count once, also for two at once [FACTOR-1, FACTOR-2, FACTOR-5]", async () => {
    for (const code of [totpCode(secret, now() + 1), codes[0] ?? ""]) {
      const browsers = [new Browser(iam.origin), new Browser(iam.origin)];
      const pages = await Promise.all(browsers.map((one) => enterPassword("alice", one)));
      const visits = await Promise.all(
        browsers.map((one, index) => enterCode(one, pages[index] as Visit, code)),
      );
      expect(visits.filter(({ url }) => url === at())).toHaveLength(1);
    }
    expect(await events("recovery_code.used")).toHaveLength(1);
    expect((await events("second_factor.used")).length).toBeGreaterThan(0);
    expect((await events("second_factor.failed")).length).toBeGreaterThan(0);
  });

  test("who guesses must wait, also with the right code [FACTOR-5]", async () => {
    const browser = new Browser(iam.origin);
    let page = await enterPassword("alice", browser);
    const wrong = wrongCode(secret);
    for (let count = 0; count < 6; count++) page = await enterCode(browser, page, wrong);
    expect(page.status).toBe(429);
    const last = await enterCode(browser, page, codes[1] ?? "");
    expect(last.text).toContain("There were too many failed attempts.");
    await databaseOf(iam).kysely.deleteFrom("iam_throttles").execute();
  });

  test("a flood of wrong codes is a few events, which name the user [FACTOR-5, IDP-23]", async () => {
    const before = (await events("second_factor.failed")).length;
    const browser = new Browser(iam.origin);
    let page = await enterPassword("alice", browser);
    const wrong = wrongCode(secret);
    for (let count = 0; count < 40; count++) page = await enterCode(browser, page, wrong);
    const fresh = (await events("second_factor.failed")).slice(before);
    // 10 of wrong codes, and 10 of refusals.
    expect(fresh.length).toBeGreaterThan(0);
    expect(fresh.length).toBeLessThanOrEqual(20);
    for (const one of fresh) expect(JSON.stringify(one)).toContain("user:");
    await databaseOf(iam).kysely.deleteFrom("iam_throttles").execute();
  });

  test("a flood of made-up passkeys at the account is a few events [IDP-23]", async () => {
    await addUser(iam, "carol");
    const { browser } = await addApp("carol");
    const carols = async () =>
      (await events("second_factor.failed")).filter((one: unknown) =>
        JSON.stringify(one).includes("HIGH"),
      ).length;
    let page = await browser.open(at("/factors"));
    for (let count = 0; count < 30; count++) {
      const form_token = fieldOf(page, "form_token");
      page = await browser.submit(page, { action: "passkey", passkey: '{"id":"x"}', form_token });
      expect(page.status).toBe(400);
    }
    expect(await carols()).toBe(10);
  });

  test("who changes factors without end must wait [FACTOR-5]", async () => {
    await addUser(iam, "dave");
    const { browser } = await addApp("dave");
    const attempt = async (form: Record<string, string>) => {
      const page = await browser.open(at("/factors"));
      return browser.submit(page, { ...form, form_token: fieldOf(page, "form_token") });
    };
    const forms: readonly Record<string, string>[] = [
      { action: "passkey", passkey: "{}" },
      { action: "remove", factor: "of nobody" },
      { action: "app", code: "000000", pending: "x" },
      { action: "codes" },
    ];
    // With the app that was added.
    for (let count = 1; count < 50; count++) {
      expect((await attempt(forms[count % forms.length] ?? {})).status).not.toBe(429);
    }
    for (const form of forms) {
      const refused = await attempt(form);
      const alert =
        /role="alert"[^>]*>There were too many attempts\. Try again in \d+ (?:s|minutes)\./;
      expect([refused.status, refused.text]).toEqual([429, expect.stringMatching(alert)]);
    }
    // Nothing was removed, the page is shown, and other users are not concerned.
    const list = await browser.open(at("/factors"));
    expect([list.status, list.text]).toEqual([200, expect.stringContaining("Authenticator app")]);
    await addUser(iam, "erin");
    expect((await addApp("erin")).codes).toHaveLength(10);
  });

  test("the secret and the codes are not in the database as they are [IDP-9]", async () => {
    const { kysely } = databaseOf(iam);
    const stored = JSON.stringify([
      await kysely.selectFrom("iam_second_factors").selectAll().execute(),
      await kysely.selectFrom("iam_recovery_codes").selectAll().execute(),
    ]);
    for (const text of [secret, ...codes, ...codes.map((one) => one.replaceAll("-", ""))]) {
      expect(stored).not.toContain(text);
    }
  });

  test("a user who is disabled meanwhile is not logged in [FACTOR-8]", async () => {
    const browser = new Browser(iam.origin);
    const page = await enterPassword("alice", browser);
    const users = databaseOf(iam).kysely.updateTable("iam_users").where("username", "=", "alice");
    await users.set({ disabled: 1 }).execute();
    await enterCode(browser, page, codes[2] ?? "");
    expect((await browser.request(at())).status).toBe(303);
    await users.set({ disabled: 0 }).execute();
  });

  test("the factors are changed only after a login of the last minutes [FACTOR-6]", async () => {
    const browser = new Browser(iam.origin);
    await enterCode(browser, await enterPassword("alice", browser), codes[3] ?? "");
    expect((await browser.request(at("/factors"))).status).toBe(200);
    const later = Date.now() + 901_000;
    const { now: real } = Date;
    Date.now = () => later;
    try {
      const response = await browser.request(at("/factors"));
      expect(response.headers.get("location")).toContain("max_age=900");
    } finally {
      Date.now = real;
    }
  });
});

test.each(["", "{}", "[]", "null", '{"id":1}', '{"id":"x"}', "x".repeat(40_000)])(
  "%j is not a passkey [FACTOR-3]",
  async (passkey) => {
    const browser = new Browser(iam.origin);
    const page = await browser.open(at());
    const next = await browser.submit(page, {
      action: "passkey",
      passkey: passkey.slice(0, 40_000),
    });
    expect([next.status, next.text]).toEqual([401, expect.stringContaining("was not accepted")]);
  },
);

test("who only has the password adds no factor beside one that was added meanwhile [FACTOR-6]", async () => {
  const required = await startSelf({ iam: { second_factor: { required_for: ["everyone"] } } });
  try {
    const home = `${required.origin}${ACCOUNT}`;
    const begin = async () => {
      const browser = new Browser(required.origin);
      const page = await browser.open(home);
      const form = { action: "login", username: "bob", password: PASSWORD };
      const next = await browser.submit(page, form);
      const secret = /<code>([A-Z2-7 ]+)<\/code>/.exec(next.text)?.[1] ?? "";
      return { browser, next, code: totpCode(secret.replaceAll(" ", ""), now()) };
    };
    const [owner, attacker] = [await begin(), await begin()];
    const added = await enterCode(owner.browser, owner.next, owner.code);
    expect(added.text).toContain("Your recovery codes");
    const refused = await enterCode(attacker.browser, attacker.next, attacker.code);
    expect(refused.text).toContain("Confirm that it is you");
    const rows = await databaseOf(required)
      .kysely.selectFrom("iam_second_factors")
      .selectAll()
      .execute();
    expect(rows).toHaveLength(1);
  } finally {
    await required.stop();
  }
});

test.each<[string, object]>([
  ["the password is changed", { password_version: 1 }],
  ["the account is disabled", { disabled: 1 }],
])("the login begins again once %s: the code is not called wrong [FACTOR-6]", async (_, values) => {
  const required = await startSelf({ iam: { second_factor: { required_for: ["everyone"] } } });
  try {
    const browser = new Browser(required.origin);
    const page = await browser.open(`${required.origin}${ACCOUNT}`);
    const form = { action: "login", username: "bob", password: PASSWORD };
    const next = await browser.submit(page, form);
    const secret = (/<code>([A-Z2-7 ]+)<\/code>/.exec(next.text)?.[1] ?? "").replaceAll(" ", "");
    await databaseOf(required)
      .kysely.updateTable("iam_users")
      .set(values)
      .where("username", "=", "bob")
      .execute();
    const refused = await enterCode(browser, next, totpCode(secret, now()));
    expect(refused.status).toBe(401);
    expect(refused.text).toContain("The login was ended while it was under way. Begin it again.");
    expect(refused.text).toContain('name="password"');
  } finally {
    await required.stop();
  }
});

test("the script has an address of its version, and is nowhere else [PAGE-4]", async () => {
  const page = await new Browser(iam.origin).open(at());
  const source = /<script src="([^"]+)" defer>/.exec(page.text)?.[1] ?? "";
  const script = await fetch(`${iam.origin}${source}`);
  expect(script.headers.get("content-type")).toBe("text/javascript; charset=utf-8");
  expect(script.headers.get("cache-control")).toContain("immutable");
  const other = await fetch(`${iam.origin}${source.split("?")[0]}?v=other`);
  expect(other.headers.get("cache-control")).toBe("no-cache");
});
