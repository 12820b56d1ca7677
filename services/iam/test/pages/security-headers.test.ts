/** Each page and each redirect of svc-iam has the same headers for its security. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { linkOf } from "../support/bootstrap.ts";
import { Browser, fieldOf } from "../support/browser.ts";
import { logInBrowser, RETURN, startSelf } from "../support/browser-login.ts";
import type { IamService } from "../support/iam-service.ts";
import { PASSWORD } from "../support/memory-accounts.ts";

const CLIENT = "7a2f1c1e-0d6a-4bb1-8a5a-0d8c1ef1a0e2";
const CALLBACK = "https://app.example.com/callback";
const PROVIDER = "/v1/iam/oidc";
const ACCOUNT = `${PROVIDER}/account`;

let iam: IamService;
beforeAll(async () => {
  const client = { id: CLIENT, name: "Console", flows: ["code", "device"] };
  iam = await startSelf({
    authn: { mode: "hybrid" },
    iam: { clients: [{ ...client, redirect_uris: [CALLBACK] }] },
    logLevel: "silent",
  });
});
afterAll(() => iam.stop());

const at = (path: string) => new URL(path, iam.origin).href;

function expectHeaders(response: Response, what: string): void {
  const { headers, status } = response;
  const policy = (headers.get("content-security-policy") ?? "").split("; ");
  const found = Object.fromEntries(
    ["referrer-policy", "x-content-type-options", "x-frame-options", "cache-control"].map(
      (name) => [name, headers.get(name)],
    ),
  );
  expect({ status, ...found }, what).toEqual({
    status,
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "cache-control": "no-store",
  });
  expect(policy, what).toEqual(
    expect.arrayContaining(["default-src 'none'", "frame-ancestors 'none'"]),
  );
  if (status >= 300 && status < 400) return;
  expect(headers.get("content-type"), what).toBe("text/html; charset=utf-8");
  expect(policy, what).toContain("base-uri 'none'");
  expect(
    policy.some((part) => part.startsWith("form-action 'self'")),
    what,
  ).toBe(true);
}

/** A browser that looks at the headers of each answer on its way. */
class StrictBrowser extends Browser {
  readonly seen: string[] = [];

  override async request(url: string, init: RequestInit = {}): Promise<Response> {
    const response = await super.request(url, init);
    const { pathname } = new URL(url);
    const path = pathname.replace(/(?<=\/(?:interaction|auth|device)\/)[\w-]{20,}$/, "*");
    const what = `${init.method ?? "GET"} ${path} ${response.status}`;
    this.seen.push(what);
    // The page that the login leads to is not one of svc-iam.
    if (pathname !== RETURN.replace(/\?.*/, "")) expectHeaders(response, what);
    return response;
  }
}

const authorization = `${PROVIDER}/auth?${new URLSearchParams({
  client_id: CLIENT,
  response_type: "code",
  scope: "openid",
  redirect_uri: CALLBACK,
  code_challenge: "a".repeat(43),
  code_challenge_method: "S256",
})}`;

/** What answers by itself, whoever asks. */
const ROWS: readonly (readonly [method: string, path: string, status: number])[] = [
  ["GET", "/v1/iam/ui/login", 303],
  ["GET", "/v1/iam/ui/login?return_to=//x", 400],
  ["GET", "/v1/iam/ui/account", 303],
  ["GET", "/v1/iam/ui/none", 404],
  ["POST", "/v1/iam/ui/none", 405],
  ["GET", "/v1/iam/ui/password-reset", 404],
  ["POST", "/v1/iam/ui/password-reset", 403],
  ["GET", "/v1/iam/ui/bootstrap?token=x", 404],
  ["POST", "/v1/iam/ui/bootstrap", 404],
  ["GET", "/v1/iam/ui/bootstrap/done", 404],
  ["GET", "/v1/iam/ui/bootstrap/none", 404],
  ["GET", "/v1/iam/oauth2/callback?state=x", 400],
  ["GET", "/v1/iam/logout", 200],
  ["POST", "/v1/iam/logout", 303],
  ["GET", `${PROVIDER}/none`, 404],
  ["GET", authorization, 303],
  ["GET", `${authorization}&prompt=none`, 303],
  ["POST", authorization, 303],
  ["GET", `${PROVIDER}/auth`, 400],
  ["GET", `${PROVIDER}/auth/x`, 400],
  ["DELETE", `${PROVIDER}/auth`, 405],
  ["GET", `${PROVIDER}/interaction/x`, 400],
  ["POST", `${PROVIDER}/interaction/x`, 400],
  ["GET", `${PROVIDER}/device`, 200],
  ["POST", `${PROVIDER}/device`, 403],
  ["GET", `${PROVIDER}/device/x`, 400],
  ["GET", `${PROVIDER}/device/done`, 303],
  ["GET", `${PROVIDER}/session/end`, 200],
  ["GET", `${PROVIDER}/session/end?id_token_hint=x`, 400],
  ["POST", `${PROVIDER}/session/end`, 303],
  ["POST", `${PROVIDER}/session/end/confirm`, 303],
  ["GET", `${PROVIDER}/session/end/success`, 200],
  ["GET", ACCOUNT, 303],
  ["POST", `${ACCOUNT}/password`, 403],
  ["GET", `${ACCOUNT}?error=access_denied`, 403],
  ["GET", `${ACCOUNT}?code=x`, 303],
  ["GET", `${ACCOUNT}/none`, 404],
  ["DELETE", ACCOUNT, 405],
];

test.each(ROWS)("%s %s [PAGE-5]", async (method, path, status) => {
  const body = method === "POST" ? { body: new URLSearchParams() } : {};
  const browser = new StrictBrowser(iam.origin);
  expect((await browser.request(at(path), { method, ...body })).status).toBe(status);
});

test("a person who logs in, looks around, and logs out [PAGE-5]", async () => {
  const browser = new StrictBrowser(iam.origin);
  const login = await browser.open(at("/v1/iam/ui/login"));
  await browser.submit(login, { action: "login", username: "alice", password: "wrong" });
  await browser.submit(login, { action: "cancel" });
  await logInBrowser(iam, browser);
  await browser.open(at("/v1/iam/ui/account"));
  const account = await browser.open(at(ACCOUNT));
  for (const section of ["password", "sessions", "factors"]) {
    await browser.open(at(`${ACCOUNT}/${section}`));
  }
  const fields = {
    form_token: fieldOf(account, "form_token"),
    action: "preferences",
    language: "en",
    time_zone: "UTC",
    theme: "1",
  };
  await browser.submit(account, fields);
  await browser.submit(account, { ...fields, language: "?" });
  const consent = await browser.open(at(authorization));
  await browser.submit(consent, { action: "consent" });
  const device = await browser.open(at(`${PROVIDER}/device`));
  await browser.submit(device, { user_code: "BBBB-BBBB" });
  const begun = await fetch(at(`${PROVIDER}/device/auth`), {
    method: "POST",
    body: new URLSearchParams({ client_id: CLIENT, scope: "openid" }),
  });
  const { user_code } = (await begun.json()) as { readonly user_code: string };
  const entered = await browser.open(at(`${PROVIDER}/device`));
  const confirm = await browser.submit(entered, { user_code });
  const approval = await browser.submit(confirm, { confirm: "yes" });
  const approved = await browser.submit(approval, { action: "consent" });
  expect(new URL(approved.url).pathname).toBe(`${PROVIDER}/device/done`);
  await browser.submit(await browser.open(at(`${PROVIDER}/session/end`)), { logout: "yes" });
  await logInBrowser(iam, browser);
  await browser.submit(await browser.open(at("/v1/iam/logout")), {});
  expect([...new Set(browser.seen)].sort()).toEqual([
    "GET /skills 404",
    "GET /v1/iam/logout 200",
    "GET /v1/iam/oauth2/callback 303",
    "GET /v1/iam/oauth2/callback 400",
    "GET /v1/iam/oidc/account 200",
    "GET /v1/iam/oidc/account/factors 200",
    "GET /v1/iam/oidc/account/password 200",
    "GET /v1/iam/oidc/account/sessions 200",
    "GET /v1/iam/oidc/auth 303",
    "GET /v1/iam/oidc/auth/* 303",
    "GET /v1/iam/oidc/device 200",
    "GET /v1/iam/oidc/device/* 303",
    "GET /v1/iam/oidc/device/done 200",
    "GET /v1/iam/oidc/interaction/* 200",
    "GET /v1/iam/oidc/session/end 200",
    "GET /v1/iam/oidc/session/end/success 200",
    "GET /v1/iam/ui/account 200",
    "GET /v1/iam/ui/login 303",
    "POST /v1/iam/logout 303",
    "POST /v1/iam/oidc/account 303",
    "POST /v1/iam/oidc/account 400",
    "POST /v1/iam/oidc/device 200",
    "POST /v1/iam/oidc/device 303",
    "POST /v1/iam/oidc/interaction/* 303",
    "POST /v1/iam/oidc/interaction/* 401",
    "POST /v1/iam/oidc/session/end/confirm 303",
  ]);
});

test("a person who becomes the first owner [PAGE-5]", async () => {
  const browser = new StrictBrowser(iam.origin);
  const page = await browser.open((await linkOf(iam)).url);
  const fields = { username: "root", display_name: "Root", email: "root@example.com" };
  const refused = await browser.submit(page, { ...fields, password: "x", repeated: "x" });
  expect(refused.status).toBe(400);
  const passwords = { password: PASSWORD, repeated: PASSWORD };
  expect((await browser.submit(page, { ...fields, ...passwords })).status).toBe(200);
});
