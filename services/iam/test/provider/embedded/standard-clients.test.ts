/** What standard clients expect: what discovery declares, and what happens. */
import type * as client from "openid-client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Browser } from "../../support/browser.ts";
import {
  begin,
  CALLBACK,
  CONSOLE,
  logIn,
  type RunningProvider,
  startProvider,
  stopAll,
} from "../../support/provider-server.ts";

let iam: RunningProvider;
let web: client.Configuration;
let declared: client.ServerMetadata;
let loggedIn: Browser;
beforeAll(async () => {
  iam = await startProvider({ clients: [CONSOLE] });
  web = await iam.configure(CONSOLE);
  declared = web.serverMetadata();
  loggedIn = new Browser(iam.origin);
  await logIn(web, loggedIn);
});
afterAll(() => stopAll());

/** An authorization request of the console with other parameters; undefined: without it. */
async function ask(change: Readonly<Record<string, string | undefined>>, browser: Browser) {
  const { url, state } = await begin(web);
  for (const [name, value] of Object.entries(change)) {
    if (value === undefined) url.searchParams.delete(name);
    else url.searchParams.set(name, value);
  }
  const response = await browser.request(url.href);
  await response.arrayBuffer();
  const location = response.headers.get("location");
  return {
    state,
    status: response.status,
    to: location === null ? null : new URL(location, iam.origin),
  };
}

const METHODS = ["client_secret_basic", "private_key_jwt", "none"];
const ALGORITHMS = ["RS256", "PS256", "ES256", "EdDSA", "Ed25519"];

test("discovery declares what there is, for both kinds of clients", async () => {
  const oauth = await fetch(`${iam.issuer}/.well-known/oauth-authorization-server`);
  expect(await oauth.json()).toEqual(JSON.parse(JSON.stringify(declared)));
  expect(declared).toMatchObject({
    response_types_supported: ["code"],
    response_modes_supported: ["query"],
    code_challenge_methods_supported: ["S256"],
    authorization_response_iss_parameter_supported: true,
    request_uri_parameter_supported: false,
    claims_parameter_supported: false,
    token_endpoint_auth_methods_supported: METHODS,
    token_endpoint_auth_signing_alg_values_supported: ALGORITHMS,
    revocation_endpoint_auth_methods_supported: METHODS,
    revocation_endpoint_auth_signing_alg_values_supported: ALGORITHMS,
    introspection_endpoint_auth_methods_supported: METHODS.filter((method) => method !== "none"),
    introspection_endpoint_auth_signing_alg_values_supported: ALGORITHMS,
  });
  expect(declared).not.toHaveProperty("pushed_authorization_request_endpoint");
  expect(declared).not.toHaveProperty("acr_values_supported");
});

test.each(["GET", "HEAD", "OPTIONS", "POST"])(
  "%s of the metadata at its place for OAuth answers as below the issuer",
  async (method) => {
    const origin = "https://spa.example.com";
    const answers = [];
    for (const path of [
      "/.well-known/oauth-authorization-server/v1/iam/oidc",
      "/v1/iam/oidc/.well-known/oauth-authorization-server",
    ]) {
      const response = await fetch(`${iam.origin}${path}`, { method, headers: { origin } });
      const headers = Object.fromEntries(response.headers);
      delete headers["x-request-id"];
      delete headers["date"];
      answers.push({ status: response.status, headers, text: await response.text() });
    }
    expect(answers[0]?.status).toBe({ OPTIONS: 204, POST: 405 }[method] ?? 200);
    expect(answers[0]).toEqual(answers[1]);
  },
);

const POST_ONLY = { GET: 405, POST: 401 };
test.each<[keyof client.ServerMetadata, Readonly<Record<string, number>>]>([
  ["authorization_endpoint", { GET: 400, POST: 303 }],
  ["end_session_endpoint", { GET: 200, POST: 303 }],
  ["jwks_uri", { GET: 200, POST: 405 }],
  ["token_endpoint", POST_ONLY],
  ["introspection_endpoint", POST_ONLY],
  ["revocation_endpoint", POST_ONLY],
  ["device_authorization_endpoint", POST_ONLY],
])("%s answers %j, and no other method", async (endpoint, answers) => {
  for (const [method, status] of Object.entries({
    ...answers,
    PUT: 405,
    PATCH: 405,
    DELETE: 405,
  })) {
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    const init = { method, headers, redirect: "manual" } as const;
    const response = await fetch(String(declared[endpoint]), init);
    expect([method, response.status]).toEqual([method, status]);
    expect(response.headers.has("allow")).toBe(status === 405);
  }
});

type Change = Readonly<Record<string, string | undefined>>;

describe("an authorization request", () => {
  test.each<[Change, string]>([
    [{ prompt: "none login" }, "invalid_request"],
    [{ prompt: "select_account" }, "invalid_request"],
    [{ max_age: "x" }, "invalid_request"],
    [{ max_age: "-1" }, "invalid_request"],
    [{ id_token_hint: "x" }, "invalid_request"],
    [{ request: "x" }, "request_not_supported"],
    [{ request_uri: "https://app.example.com/r" }, "request_uri_not_supported"],
    [{ registration: "{}" }, "registration_not_supported"],
    [{ code_challenge: undefined, code_challenge_method: undefined }, "invalid_request"],
    [{ code_challenge_method: undefined }, "invalid_request"],
    [{ code_challenge_method: "plain" }, "invalid_request"],
    [{ response_type: undefined }, "invalid_request"],
    [{ response_type: "none" }, "unsupported_response_type"],
    [{ response_type: "token" }, "unsupported_response_type"],
    [{ response_type: "id_token" }, "unsupported_response_type"],
    [{ response_type: "code id_token" }, "unsupported_response_type"],
    [{ response_mode: "fragment" }, "invalid_request"],
    [{ response_type: "code code", response_mode: "fragment" }, "invalid_request"],
    [{ response_mode: "web_message" }, "unsupported_response_mode"],
    [{ response_mode: "query.jwt" }, "unsupported_response_mode"],
    [{ resource: "urn:other" }, "invalid_target"],
    [{ scope: "profile" }, "invalid_request"],
    [{ scope: undefined, nonce: undefined }, "invalid_scope"],
    [{ scope: "", nonce: undefined }, "invalid_scope"],
    [{ scope: "read write", nonce: undefined }, "invalid_scope"],
    [{ scope: "openid\u00e4" }, "invalid_scope"],
    // Without a consent it is not granted (OpenID Connect Core 1.0, section 11).
    [{ scope: "offline_access", nonce: undefined }, "invalid_scope"],
  ])("with %j is sent back with %s, its state and the issuer", async (change, error) => {
    for (const browser of [new Browser(iam.origin), loggedIn]) {
      const { state, to } = await ask(change, browser);
      expect(to?.href.startsWith(CALLBACK)).toBe(true);
      const sent = new URLSearchParams(to?.search || to?.hash.slice(1));
      expect(Object.fromEntries(sent)).toMatchObject({ error, state, iss: iam.issuer });
      if (error === "invalid_scope") expect(sent.get("error_description")).toMatch(/scope/);
      expect(sent.has("code")).toBe(false);
    }
  });

  test.each<[Change]>([
    [{ client_id: undefined }],
    [{ client_id: "nobody" }],
    [{ redirect_uri: undefined }],
    [{ redirect_uri: "https://evil.example.com/" }],
    [{ redirect_uri: `${CALLBACK}/` }],
    // Its form leads to the client, but nobody is sent there without a step of theirs.
    [{ response_mode: "form_post" }],
  ])("with %j gets a page, and is sent nowhere", async (change) => {
    expect(await ask(change, loggedIn)).toMatchObject({ status: 400, to: null });
  });

  test.each<[Change, "code" | "page"]>([
    [{}, "code"],
    [{ prompt: "none" }, "code"],
    [{ response_mode: "query" }, "code"],
    [{ max_age: "3600" }, "code"],
    [{ login_hint: "alice" }, "code"],
    [{ acr_values: "a b" }, "code"],
    [{ ui_locales: "xx de" }, "code"],
    [{ display: "popup" }, "code"],
    // Not supported, so left out of account (OpenID Connect Core 1.0, section 5.5).
    [{ claims: '{"id_token":{"email":null}}' }, "code"],
    [{ scope: "openid unknown" }, "code"],
    [{ scope: "profile", nonce: undefined }, "code"],
    [{ scope: "email unknown", nonce: undefined }, "code"],
    [{ state: undefined, nonce: undefined }, "code"],
    [{ prompt: "login" }, "page"],
    [{ prompt: "consent" }, "page"],
    [{ max_age: "0" }, "page"],
    [{ scope: "offline_access", prompt: "consent", nonce: undefined }, "page"],
  ])("with %j leads who is logged in to a %s", async (change, leadsTo) => {
    const { to } = await ask(change, loggedIn);
    if (leadsTo === "page") return expect(to?.pathname).toMatch(/\/interaction\/[^/]+$/);
    expect(to?.searchParams.get("iss")).toBe(iam.issuer);
    expect(to?.searchParams.get("code")).toMatch(/./);
  });

  test("with prompt=none says that nobody is logged in", async () => {
    const { to } = await ask({ prompt: "none" }, new Browser(iam.origin));
    expect(to?.searchParams.get("error")).toBe("login_required");
  });
});

test.each<[string, (text: string) => string, number]>([
  ["each character percent-encoded", percent, 400],
  ["another secret", (text) => `${text}x`, 401],
  ["an escape that is none", (text) => `%zz${text}`, 400],
])("client_secret_basic with %s", async (_, encode, status) => {
  const { id, secret = "" } = CONSOLE;
  const pair = `${percent(id)}:${encode(secret)}`;
  const authorization = `Basic ${Buffer.from(pair).toString("base64")}`;
  const body = new URLSearchParams({ grant_type: "authorization_code", code: "x" });
  const response = await fetch(`${iam.issuer}/token`, {
    method: "POST",
    headers: { authorization },
    body,
  });
  const error = status === 401 ? "invalid_client" : /^invalid_(?:grant|request)$/;
  expect(response.status).toBe(status);
  expect(((await response.json()) as { error: string }).error).toMatch(error);
});

/** As RFC 6749 has clients encode their id and secret, also characters that need no escape. */
function percent(text: string): string {
  return [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");
}
