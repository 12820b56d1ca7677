/** What the pages of the account say of a form that is not accepted, and what they keep of it. */
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { PasswordLogin } from "../../src/people/accounts/password-login.ts";
import { newTotpSecret, totpCode } from "../../src/people/factors/one-time-codes.ts";
import { Browser, fieldOf } from "../support/browser.ts";
import { databaseOf, startSelf } from "../support/browser-login.ts";
import { auditEvents, type IamService } from "../support/iam-service.ts";
import { PASSWORD } from "../support/memory-accounts.ts";

const NEXT = "eleven purple walruses";
let iam: IamService;
let alice: Browser;
beforeAll(async () => {
  iam = await startSelf();
  alice = new Browser(iam.origin);
  const page = await alice.open(at());
  await alice.submit(page, { action: "login", username: "alice", password: PASSWORD });
});
afterAll(() => iam.stop());

const at = (path = "") => `${iam.origin}/v1/iam/oidc/account${path}`;

async function post(path: string, fields: Readonly<Record<string, string>>, headers = {}) {
  const body = new URLSearchParams(fields);
  const response = await alice.request(at(path), { method: "POST", body, headers });
  return { status: response.status, text: await response.text(), url: at(path) };
}

/** The links of the summary: to which fields, with which texts. */
function summaryOf(text: string): readonly (readonly [string, string])[] {
  const [summary = ""] = /<div class="alert"[\s\S]*?<\/div>/.exec(text) ?? [];
  return [...summary.matchAll(/<a href="#([^"]*)">([^<]*)<\/a>/g)].map(
    ([, name = "", problem = ""]) => [name, problem],
  );
}

/** The fields that are marked as wrong, each with the problem that it names. */
function markedIn(text: string): readonly (readonly [string, string | undefined])[] {
  return [...text.matchAll(/<(?:input|select) id="([^"]*)"([^>]*)>/g)]
    .filter(([, , attributes = ""]) => attributes.includes('aria-invalid="true"'))
    .map(([, name = "", attributes = ""]) => {
      const ids = /aria-describedby="([^"]*)"/.exec(attributes)?.[1]?.split(" ") ?? [];
      expect(ids).toContain(`${name}-problem`);
      return [
        name,
        new RegExp(`<p class="wrong" id="${name}-problem">([^<]*)</p>`).exec(text)?.[1],
      ];
    });
}

describe("the summary links each field that is wrong, which says why [PAGE-2, PAGE-9]", () => {
  const password = { current: PASSWORD, password: NEXT, repeated: NEXT };
  test.each<[string, string, Record<string, string>, readonly (readonly [string, string])[]]>([
    [
      "a profile with nothing right",
      "",
      { action: "profile", display_name: " ", avatar_url: "javascript:x" },
      [
        ["display_name", "The name is required."],
        ["avatar_url", "The address of the picture must be an https URL."],
      ],
    ],
    [
      "preferences with nothing right",
      "",
      { action: "preferences", language: "?", time_zone: "Mars", theme: "77" },
      [
        ["language", "Language: choose one of the values."],
        ["time_zone", "Time zone: choose one of the values."],
        ["theme", "Colors: choose one of the values."],
      ],
    ],
    [
      "preferences with one thing wrong",
      "",
      { action: "preferences", language: "de", time_zone: "Mars", theme: "1" },
      [["time_zone", "Time zone: choose one of the values."]],
    ],
    [
      "passwords with nothing right",
      "/password",
      { current: "a wrong one", password: "short", repeated: "other" },
      [
        ["current", "The current password is wrong."],
        ["password", "The password must have at least 12 characters."],
        ["repeated", "The second password is another one."],
      ],
    ],
    [
      "no passwords",
      "/password",
      { current: "", password: "", repeated: "" },
      [
        ["current", "The current password is required."],
        ["password", "The password must have at least 12 characters."],
      ],
    ],
    [
      "a wrong current password",
      "/password",
      { ...password, current: "a wrong one" },
      [["current", "The current password is wrong."]],
    ],
    [
      "a new password that may not be set",
      "/password",
      { ...password, password: "short", repeated: "short" },
      [["password", "The password must have at least 12 characters."]],
    ],
  ])("%s", async (_, path, fields, problems) => {
    const form_token = fieldOf(await alice.open(at(path)), "form_token");
    const { status, text } = await post(path, { ...fields, form_token });
    expect(status).toBe(400);
    expect(text).toMatch(/<title>Error: /);
    expect(summaryOf(text)).toEqual(problems);
    expect(markedIn(text)).toEqual(problems);
    for (const secret of [PASSWORD, NEXT, "a wrong one"]) expect(text).not.toContain(secret);
  });

  test("the code of a new app", async () => {
    const list = await alice.open(at("/factors"));
    const page = await alice.submit(list, { action: "new_app" });
    const { status, text } = await alice.submit(page, { action: "app", code: "000000" });
    const problem = "The code is wrong. Check the clock of the device, and enter the next code.";
    expect(status).toBe(400);
    expect(summaryOf(text)).toEqual([["code", problem]]);
    expect(markedIn(text)).toEqual([["code", problem]]);
  });
});

test("a current password is checked beside a new one that may not be set, and changes nothing [PAGE-9]", async () => {
  const form_token = fieldOf(await alice.open(at("/password")), "form_token");
  const version = () =>
    databaseOf(iam)
      .kysely.selectFrom("iam_users")
      .select("password_version")
      .where("username", "=", "alice")
      .executeTakeFirstOrThrow();
  const before = await version();
  for (const current of [PASSWORD, "a wrong one"]) {
    await post("/password", { form_token, current, password: "short", repeated: "short" });
  }
  expect(await version()).toEqual(before);
});

test("a change of the password that is sent twice is one change", async () => {
  const bob = new Browser(iam.origin);
  const page = await bob.open(at("/password"));
  const form = await bob.submit(page, { action: "login", username: "bob", password: PASSWORD });
  const fields = { current: PASSWORD, password: NEXT, repeated: NEXT };
  const both = await Promise.all([bob.send(form, fields), bob.send(form, fields)]);
  for (const sent of [...both, await bob.send(form, fields)]) {
    expect(sent.status).toBe(303);
    const { text } = await bob.open(new URL(sent.next, iam.origin).href);
    expect(text).toContain("Your password was changed.");
  }
  const other = await bob.send(form, {
    ...fields,
    password: "ten red penguins",
    repeated: "ten red penguins",
  });
  expect([other.status, other.text]).toEqual([
    400,
    expect.stringContaining("The current password is wrong."),
  ]);
  expect(await auditEvents(iam, { type: "password.changed" })).toHaveLength(1);
  // Later, a wrong current password is one attempt, not two.
  const { kysely } = databaseOf(iam);
  await kysely.updateTable("iam_users").set({ update_time: 1 }).execute();
  const authenticate = vi.spyOn(PasswordLogin.prototype, "authenticate");
  expect((await bob.send(form, fields)).status).toBe(400);
  expect(authenticate).toHaveBeenCalledTimes(1);
  authenticate.mockRestore();
});

describe("a form that has expired is shown again, and is done when it is sent again [PAGE-9]", () => {
  const EXPIRED = "The form has expired. Send it again.";

  test("with the profile that was typed, and the version that it was made for", async () => {
    const page = await alice.open(at());
    const etag = fieldOf(page, "etag");
    const typed = { display_name: 'Alice "A" <b>', avatar_url: "https://example.com/a.png" };
    const again = await post("", { action: "profile", form_token: "x", etag, ...typed });
    expect([again.status, again.text]).toEqual([403, expect.stringContaining(EXPIRED)]);
    expect(again.text).toContain('value="Alice &quot;A&quot; &lt;b&gt;"');
    expect(again.text).toContain('value="https://example.com/a.png"');
    expect(again.text).not.toContain("<b>");
    expect(fieldOf(again, "etag")).toBe(etag);
    const done = await alice.submit(again, { action: "profile", ...typed });
    expect(done.text).toContain("Your profile was saved.");
    const late = await post("", { action: "profile", form_token: "x", etag, ...typed });
    const refused = await alice.submit(late, { action: "profile", ...typed });
    expect([refused.status, refused.text]).toEqual([
      409,
      expect.stringContaining("changed it meanwhile"),
    ]);
  });

  test.each<[string, Record<string, string>, readonly string[]]>([
    [
      "that were chosen",
      { language: "de", time_zone: "Europe/Berlin", theme: "3" },
      ["de", "Europe/Berlin", "3"],
    ],
    [
      "that are stored in place of others",
      { language: '"><script>', time_zone: "Mars", theme: "x" },
      ["", "UTC", "1"],
    ],
  ])("with the preferences %s", async (_, typed, chosen) => {
    const again = await post("", { action: "preferences", form_token: "x", ...typed });
    expect([again.status, again.text]).toEqual([403, expect.stringContaining(EXPIRED)]);
    const selected = [...again.text.matchAll(/<option value="([^"]*)" selected>/g)];
    expect(selected.map(([, value]) => value)).toEqual(chosen);
    expect(again.text).not.toContain("<script");
  });

  test("without the passwords", async () => {
    const form = { current: PASSWORD, password: NEXT, repeated: NEXT };
    const again = await post("/password", { ...form, form_token: "x" });
    expect([again.status, again.text]).toEqual([403, expect.stringContaining(EXPIRED)]);
    for (const secret of [PASSWORD, NEXT]) expect(again.text).not.toContain(secret);
    const wrong = await alice.submit(again, { ...form, current: "a wrong one" });
    expect(wrong.text).toContain("The current password is wrong.");
  });

  test.each([{ session: "x" }, { action: "all" }])("with the sessions, for %j", async (form) => {
    const again = await post("/sessions", { ...form, form_token: "x" } as Record<string, string>);
    expect([again.status, again.text]).toEqual([403, expect.stringContaining(EXPIRED)]);
    expect((await alice.submit(again, form)).status).toBe(200);
  });

  test.each(["ask_removal", "remove", "codes", "passkey", "new_app", "", "x"])(
    "with the factors, for %j",
    async (action) => {
      const again = await post("/factors", { action, form_token: "x", passkey: "{}" });
      expect([again.status, again.text]).toEqual([403, expect.stringContaining(EXPIRED)]);
      expect((await alice.submit(again, { action: "new_app" })).text).toContain("Key: ");
    },
  );

  test("with the same new app, without its code", async () => {
    const list = await alice.open(at("/factors"));
    const page = await alice.submit(list, { action: "new_app" });
    const key = keyIn(page.text);
    const code = totpCode(key, Math.floor(Date.now() / 30_000));
    const pending = fieldOf(page, "pending");
    const again = await post("/factors", { action: "app", form_token: "x", pending, code });
    expect([again.status, again.text]).toEqual([403, expect.stringContaining(EXPIRED)]);
    expect(keyIn(again.text)).toBe(key);
    expect(again.text).not.toContain(code);
    expect((await alice.submit(again, { action: "app", code })).text).toContain(
      "Your recovery codes",
    );
  });

  test.each([{ form_token: "x" }, {}])(
    "with a new app if its key has expired too, with %j",
    async (given) => {
      const form_token = fieldOf(await alice.open(at("/factors")), "form_token");
      const form = { action: "app", form_token, pending: "x", code: "123456", ...given };
      const again = await post("/factors", form);
      expect([again.status, again.text]).toEqual([
        403,
        expect.stringContaining("Add the new key below to the app"),
      ]);
      expect(keyIn(again.text)).toHaveLength(newTotpSecret().length);
      expect(again.text).not.toContain("123456");
    },
  );

  test("but not that of another site, which has a link to the page", async () => {
    const headers = { "sec-fetch-site": "cross-site", origin: "https://evil.example.com" };
    const typed = { action: "profile", display_name: "Mallory", avatar_url: "" };
    for (const path of ["", "/password", "/sessions", "/factors"]) {
      const { status, text } = await post(path, typed, headers);
      expect([status, text]).toEqual([
        403,
        expect.stringContaining(`href="/v1/iam/oidc/account${path}"`),
      ]);
      expect(text).not.toContain("Mallory");
    }
  });
});

/** The key of a new app. */
function keyIn(text: string): string {
  return (/<code>([A-Z2-7 ]+)<\/code>/.exec(text)?.[1] ?? "").replaceAll(" ", "");
}
