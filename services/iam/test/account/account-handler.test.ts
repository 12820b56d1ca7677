import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Browser, fieldOf } from "../support/browser.ts";
import { databaseOf, startSelf } from "../support/browser-login.ts";
import type { IamService } from "../support/iam-service.ts";
import { PASSWORD } from "../support/memory-accounts.ts";

const ACCOUNT = "/v1/iam/oidc/account";
let iam: IamService;
let alice: Browser;
beforeAll(async () => {
  iam = await startSelf();
  alice = await loggedIn("alice");
});
afterAll(() => iam.stop());

const at = (path = "") => `${iam.origin}${ACCOUNT}${path}`;

/** A browser in which somebody has opened the account. */
async function loggedIn(username: string): Promise<Browser> {
  const browser = new Browser(iam.origin);
  const page = await browser.open(at());
  const visit = await browser.submit(page, { action: "login", username, password: PASSWORD });
  expect(visit.url).toBe(at());
  return browser;
}

async function post(browser: Browser, path: string, fields: object, headers = {}) {
  const body = new URLSearchParams({ ...fields });
  return browser.request(at(path), { method: "POST", body, headers });
}

async function tokenOf(browser: Browser, path = ""): Promise<string> {
  return fieldOf(await browser.open(at(path)), "form_token");
}

test.each(["", "/password", "/sessions"])(
  "nobody sees %j without a login [PAGE-9]",
  async (path) => {
    for (const cookie of [undefined, "", "x", "a".repeat(43)]) {
      const browser = new Browser(iam.origin);
      if (cookie !== undefined) browser.setCookie("iam_session", cookie);
      const response = await browser.request(at(path));
      expect(response.status).toBe(303);
      expect(response.headers.get("location")).toMatch(`${iam.origin}/v1/iam/oidc/auth?`);
      const sent = await browser.request(at(path), { method: "POST" });
      const page = await sent.text();
      expect([sent.status, page]).toEqual([403, expect.stringContaining("Your login has ended")]);
      expect(page).toContain(`<a class="button" href="${new URL(at(path), iam.origin).pathname}">`);
    }
  },
);

test("a token or an identity of another kind is not a login", async () => {
  const headers = { authorization: "Bearer x", "x-svc-user-id": "alice" };
  const response = await new Browser(iam.origin).request(at(), { headers });
  expect(response.status).not.toBe(200);
});

test("a way back from a login leads nowhere else", async () => {
  for (const state of ["", "//evil.example.com", "https://evil.example.com", "__proto__"]) {
    const query = new URLSearchParams({ code: "x", state });
    const response = await alice.request(`${at()}?${query}`);
    expect(response.headers.get("location")).toBe(ACCOUNT);
  }
});

test.each(["constructor", "__proto__", "", "x", "profile", "changed", "all"])(
  "a link with done=%s does not say that something was done",
  async (done) => {
    for (const path of ["", "/sessions", "/password"]) {
      const { status, text } = await alice.open(`${at(path)}?done=${done}`);
      expect([status, text]).toEqual([200, expect.not.stringContaining('class="done"')]);
    }
  },
);

test("a page that does not exist is an error with the id of the request [PAGE-7]", async () => {
  const response = await alice.request(at("/others"));
  expect(response.status).toBe(404);
  expect(await response.text()).toContain(response.headers.get("x-request-id"));
});

describe("a form is refused [PAGE-9]", () => {
  const fields = { action: "profile", display_name: "Mallory", avatar_url: "" };
  test.each<[string, () => Promise<object>, object]>([
    ["without a token", async () => ({}), {}],
    ["with a token of another section", async () => ({ t: await tokenOf(alice, "/sessions") }), {}],
    [
      "with a token of another browser",
      async () => ({ t: await tokenOf(await loggedIn("bob")) }),
      {},
    ],
    [
      "of another site",
      async () => ({ t: await tokenOf(alice) }),
      { "sec-fetch-site": "cross-site", origin: "https://evil.example.com" },
    ],
  ])("%s", async (_, made, headers) => {
    const { t } = (await made()) as { readonly t?: string };
    const token = t === undefined ? {} : { form_token: t };
    const response = await post(alice, "", { ...fields, ...token }, headers);
    expect(response.status).toBe(403);
    expect((await alice.open(at())).text).not.toContain("Mallory");
  });

  test.each<[string, object, number, string]>([
    ["with an old etag", { etag: "old" }, 409, "changed it meanwhile"],
    ["with an empty name", { display_name: " " }, 400, "The name is required."],
    ["with a picture that is a script", { avatar_url: "javascript:x" }, 400, "https URL"],
    [
      "with a language that does not exist",
      { action: "preferences", language: "?" },
      400,
      "Language: choose one of the values.",
    ],
    [
      "with another time zone",
      { action: "preferences", time_zone: "Mars" },
      400,
      "Time zone: choose one of the values.",
    ],
    [
      "with another theme",
      { action: "preferences", theme: "77" },
      400,
      "Colors: choose one of the values.",
    ],
  ])("%s, and the page says why", async (_, change, status, problem) => {
    const form_token = await tokenOf(alice);
    const response = await post(alice, "", { ...fields, form_token, ...change });
    expect([response.status, await response.text()]).toEqual([
      status,
      expect.stringContaining(problem),
    ]);
  });
});

test("a new password that may not be set is refused, and no password is shown again [PAGE-9]", async () => {
  const form_token = await tokenOf(alice, "/password");
  for (const [password, repeated, problem] of [
    ["short", "short", "at least 12 characters"],
    ["eleven purple walruses", "another one entirely", "The second password is another one."],
  ] as const) {
    const fields = { form_token, current: PASSWORD, password, repeated };
    const text = await (await post(alice, "/password", fields)).text();
    expect(text).toContain(problem);
    for (const secret of [PASSWORD, password, repeated]) expect(text).not.toContain(secret);
  }
});

test("white space at the end of a name is not of the name, as keyboards of phones add it", async () => {
  const page = await alice.open(at());
  const [form_token, etag] = [fieldOf(page, "form_token"), fieldOf(page, "etag")];
  const typed = { display_name: "Alice Liddell ", avatar_url: " " };
  const saved = await post(alice, "", { action: "profile", form_token, etag, ...typed });
  expect(saved.status).toBe(303);
  expect((await alice.open(at())).text).toContain('value="Alice Liddell"');
});

test("a name of before a rule on new ones stays in the profile", async () => {
  const { kysely } = databaseOf(iam);
  // The Hangul filler, which nobody sees.
  const older = "\u3164";
  const alices = kysely.updateTable("iam_users").where("username", "=", "alice");
  await alices.set({ display_name: older }).execute();
  const save = async (display_name: string) => {
    const page = await alice.open(at());
    const [form_token, etag] = [fieldOf(page, "form_token"), fieldOf(page, "etag")];
    const picture = "https://example.com/alice.png";
    return post(alice, "", {
      action: "profile",
      display_name,
      avatar_url: picture,
      form_token,
      etag,
    });
  };
  const kept = await save(older);
  const next = new URL(kept.headers.get("location") ?? "", iam.origin).href;
  expect([kept.status, (await alice.open(next)).text]).toEqual([
    303,
    expect.stringContaining("Your profile was saved."),
  ]);
  // Of one section and one browser.
  for (const path of ["/sessions", "/password"]) {
    const visit = await alice.open(next.replace(at(), at(path)));
    expect(visit.text).not.toContain('class="done"');
  }
  expect((await save(older.repeat(2))).status).toBe(400);
  await alices.set({ display_name: "Alice" }).execute();
});

test("the session of somebody else is not ended [PAGE-9]", async () => {
  const bob = await loggedIn("bob");
  const { kysely } = databaseOf(iam);
  const sessions = await kysely.selectFrom("iam_sessions").selectAll().execute();
  const form_token = await tokenOf(alice, "/sessions");
  const own = /name="session" value="([^"]*)"/.exec((await alice.open(at("/sessions"))).text)?.[1];
  for (const { id } of sessions.filter((one) => one.id !== own)) {
    expect((await post(alice, "/sessions", { form_token, session: id })).status).toBe(303);
  }
  expect((await bob.request(at())).status).toBe(200);
});
