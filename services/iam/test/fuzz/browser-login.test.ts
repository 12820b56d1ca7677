/** Random requests to the pages of browsers of a whole svc-iam: no crash, no error, no way out, no markup. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runs } from "../../../../test/support/effort.ts";
import { BOOTSTRAP_PATH } from "../../src/bootstrap/bootstrap-handler.ts";
import { linkOf } from "../support/bootstrap.ts";
import { type Browser, fieldOf } from "../support/browser.ts";
import { addUser, logInBrowser, SESSION, untilCallback, userId } from "../support/browser-login.ts";
import { asUser, type IamService, startIam } from "../support/iam-service.ts";
import { newBrowser, relate } from "../support/passwords.ts";
import { browserRequest, type KnownBrowser } from "./browser-inputs.ts";
import { fuzz, send, violation } from "./fuzz-loop.ts";
import { type FuzzRequest, MARKUP } from "./fuzz-texts.ts";

const RUNS = Number(process.env["SVC_IAM_FUZZ_RUNS"] ?? runs(25_000, 200));
const SEED = Number(process.env["SVC_IAM_FUZZ_SEED"] ?? Date.now() % 2 ** 31);
const TV = { id: randomUUID(), name: "TV", flows: ["device"] };
const RESET = "/v1/iam/ui/password-reset";
const RESET_COOKIE = "iam_password_reset";

let iam: IamService;
let alice: string;
let bootstrap: string;
let known: KnownBrowser;
beforeAll(async () => {
  iam = await startIam({ iam: { browser_login: "self", clients: [TV] } });
  await addUser(iam, "alice");
  alice = await idOf("alice");
  bootstrap = (await linkOf(iam)).token;
  known = await knownNow();
});
afterAll(() => iam.stop());

const idOf = (username: string) => userId(iam, username);

/** A link for a new password, by a new manager of users: the zone has no owner, as long as its link counts. */
async function resetToken(): Promise<string> {
  const manager = `m${randomUUID()}`;
  await addUser(iam, manager);
  const id = await idOf(manager);
  await relate(iam, "user_manager", id);
  const path = `/v1/users/${alice}/password-reset-links`;
  const { status, body } = await iam.call("POST", path, {}, asUser(id));
  expect(status, JSON.stringify(body)).toBe(200);
  return new URL(body.url).searchParams.get("token") ?? "";
}

async function userCode(): Promise<string> {
  const address = `198.51.100.${Math.floor(Math.random() * 256)}`;
  const response = await fetch(`${iam.origin}/v1/iam/oidc/device/auth`, {
    method: "POST",
    headers: { "x-forwarded-for": address },
    body: new URLSearchParams({ client_id: TV.id, scope: "openid" }),
  });
  const { user_code = "x" } = (await response.json()) as { readonly user_code?: string };
  return user_code;
}

function cookiesOf(browser: Browser): string[] {
  return browser.names().map((name) => `${name}=${browser.cookie(name)}`);
}

async function knownNow(): Promise<KnownBrowser> {
  const [loggedIn, coming, resetting] = [newBrowser(iam), newBrowser(iam), newBrowser(iam)];
  await logInBrowser(iam, loggedIn);
  // Its cookies come together with those of the login: a request has one identity of a browser.
  for (const one of [coming, resetting]) {
    one.setCookie("iam_browser", loggedIn.cookie("iam_browser") ?? "");
  }
  const callback = await untilCallback(iam, coming);
  const token = await resetToken();
  const pages = [
    await loggedIn.open(`${iam.origin}/v1/iam/logout`),
    await loggedIn.open(`${iam.origin}/v1/iam/oidc/account`),
    await loggedIn.open(`${iam.origin}/v1/iam/oidc/account/password`),
    await loggedIn.open(`${iam.origin}/v1/iam/oidc/device`),
    await resetting.open(`${iam.origin}${RESET}?token=${token}`),
  ];
  return {
    cookies: [
      ...new Set([...cookiesOf(loggedIn), ...cookiesOf(coming)]),
      `${RESET_COOKIE}=${resetting.cookie(RESET_COOKIE)}`,
      `svc-iam-bootstrap=${bootstrap}.x`,
    ],
    states: [callback.searchParams.get("state") ?? ""],
    codes: [callback.searchParams.get("code") ?? ""],
    resets: [token],
    bootstraps: [bootstrap],
    formTokens: pages.map((page) => fieldOf(page, "form_token")),
    userCodes: [await userCode()],
  };
}

test("inputs are made of what is valid", () => {
  const { cookies, ...rest } = known;
  for (const [name, values] of Object.entries(rest)) {
    for (const value of values) expect(value, name).toMatch(/.{3}/);
  }
  const names = cookies.map((cookie) => cookie.slice(0, cookie.indexOf("=")));
  expect(names).toEqual(
    expect.arrayContaining([SESSION, expect.stringMatching(/^__Host-iam_pending_/), RESET_COOKIE]),
  );
});

const FORM = { "content-type": "application/x-www-form-urlencoded" };
const query = (fields: Record<string, string>) => new URLSearchParams(fields).toString();
const sessionOf = () => ({
  cookie: known.cookies.find((one) => one.startsWith(`${SESSION}=`)) ?? "",
});
const resetOf = () => ({
  cookie: known.cookies
    .filter((one) => /^(?:iam_browser|iam_password_reset)=/.test(one))
    .join("; "),
});

/** Each outcome that random inputs seldom have has one. */
const EXAMPLES: readonly (readonly [string, number, () => Partial<FuzzRequest>])[] = [
  ["a login", 303, () => ({ path: "/v1/iam/ui/login?return_to=/skills" })],
  [
    "a login that would lead to another site",
    400,
    () => ({ path: `/v1/iam/ui/login?${query({ return_to: "//evil.example.net" })}` }),
  ],
  ["the page after a login", 200, () => ({ path: "/v1/iam/ui/account", headers: sessionOf() })],
  ["the page of a logout", 200, () => ({ path: "/v1/iam/logout", headers: sessionOf() })],
  [
    "a logout without its form",
    403,
    () => ({ method: "POST", path: "/v1/iam/logout", headers: { ...FORM, ...sessionOf() } }),
  ],
  [
    "a callback of another browser",
    400,
    () => ({
      path: `/v1/iam/oauth2/callback?${query({ state: known.states[0] ?? "", code: MARKUP })}`,
    }),
  ],
  ["the link of a first owner", 200, () => ({ path: `${BOOTSTRAP_PATH}?token=${bootstrap}` })],
  [
    "a first owner whose fields are markup",
    400,
    () => ({
      method: "POST",
      path: BOOTSTRAP_PATH,
      headers: FORM,
      body: query({
        token: bootstrap,
        username: MARKUP,
        display_name: MARKUP,
        email: MARKUP,
        password: "x",
        repeated: "x",
      }),
    }),
  ],
  ["a link that is markup", 404, () => ({ path: `${BOOTSTRAP_PATH}?${query({ token: MARKUP })}` })],
  ["the link for a password", 303, () => ({ path: `${RESET}?token=${known.resets[0]}` })],
  ["the form for a password", 200, () => ({ path: RESET, headers: resetOf() })],
  [
    "the form for a password of another site",
    403,
    () => ({
      method: "POST",
      path: RESET,
      headers: {
        ...FORM,
        ...resetOf(),
        "sec-fetch-site": "cross-site",
      },
      body: query({ password: MARKUP, repeated: MARKUP }),
    }),
  ],
  [
    "the own account",
    200,
    () => ({ path: "/v1/iam/oidc/account", headers: { cookie: known.cookies.join("; ") } }),
  ],
  ["the own account of nobody", 303, () => ({ path: "/v1/iam/oidc/account" })],
  [
    "the code of a device",
    200,
    () => ({ path: `/v1/iam/oidc/device?user_code=${known.userCodes[0]}` }),
  ],
];

test.each(EXAMPLES)("%s is answered with %i", async (_, status, example) => {
  const { method = "GET", path = "", headers = {}, body } = example();
  const input = { method, path, headers: { accept: "text/html", ...headers }, body };
  const answer = await send(input, iam.origin);
  expect(answer.status, answer.text).toBe(status);
  expect(violation(answer, { origin: iam.origin, origins: [] })).toBeUndefined();
});

test(`${RUNS} inputs, seed ${SEED}`, { timeout: 3_600_000 }, async () => {
  const violations = await fuzz({
    origin: iam.origin,
    origins: [],
    runs: RUNS,
    seed: SEED,
    knownNow,
    input: browserRequest,
  });
  const hint = `SVC_IAM_FUZZ_SEED=${SEED} SVC_IAM_FUZZ_RUNS=${RUNS}`;
  expect(violations.slice(0, 3), hint).toEqual([]);
  expect((await fetch(`${iam.origin}/healthz`)).status).toBe(200);
});
