import { LOGIN_CLIENT, REDIRECT_URI } from "../support/iam-service.ts";

/** A client whose devices anybody can be: it has no secret. */
export const TV = "6e8f6f7e-1d2b-4b9e-9b7b-9a5d5a3c1f10";

/** A request of somebody without a login, and what it may store. */
export interface AnonymousRequest {
  /** The method and the path. */
  readonly to: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly form?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  readonly status: number;
  /** With made-up cookies, where that is another one. */
  readonly statusWithCookies?: number;
  /** The rows that it adds to a table: documents exactly, of others at most so many; to all that are not named, none. */
  readonly rows?: Readonly<Record<string, number>>;
  /** The bytes that each of them has at most. */
  readonly bytes?: number;
  /** How long they are kept at most, but those of the audit and of the limits of attempts. */
  readonly seconds?: number;
}

/** The table of logins, sessions and codes. */
export const DOCUMENT = "iam_provider_documents";
/** Failures are events: the first ten of an address in a minute, which are otherwise counted. */
const EVENT = { rows: { audit_events: 1 }, bytes: 2000 };
const PROVIDER = "/v1/iam/oidc";
const CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

/** A login of a client, as long as it may be. */
export const LOGIN = {
  client_id: LOGIN_CLIENT,
  redirect_uri: REDIRECT_URI,
  response_type: "code",
  scope: "openid profile",
  code_challenge: CHALLENGE,
  code_challenge_method: "S256",
  state: "s".repeat(4096),
  nonce: "n".repeat(512),
  login_hint: "l".repeat(512),
  ui_locales: "u".repeat(512),
  acr_values: "a".repeat(512),
};
/** A login of a device, as long as it may be. */
export const DEVICE = {
  client_id: TV,
  scope: "openid",
  nonce: "n".repeat(512),
  login_hint: "l".repeat(512),
  ui_locales: "u".repeat(512),
};

export const ANONYMOUS_REQUESTS: readonly AnonymousRequest[] = [
  {
    to: `GET ${PROVIDER}/auth`,
    query: LOGIN,
    status: 303,
    rows: { [DOCUMENT]: 1 },
    bytes: 12_000,
    seconds: 1800,
  },
  { to: `GET ${PROVIDER}/auth`, query: { ...LOGIN, prompt: "none" }, status: 303 },
  { to: `GET ${PROVIDER}/auth`, status: 400 },
  { to: `POST ${PROVIDER}/auth`, form: LOGIN, status: 303 },
  { to: `GET ${PROVIDER}/auth/x`, status: 400 },
  { to: `GET ${PROVIDER}/interaction/x`, status: 400 },
  { to: `POST ${PROVIDER}/interaction/x`, form: { action: "login" }, status: 400 },
  { to: `GET ${PROVIDER}/device`, status: 200, rows: { [DOCUMENT]: 1 }, bytes: 1000, seconds: 900 },
  {
    to: `GET ${PROVIDER}/device`,
    query: { user_code: "x".repeat(8000) },
    status: 200,
    rows: { [DOCUMENT]: 1 },
    bytes: 1000,
    seconds: 900,
  },
  { to: `POST ${PROVIDER}/device`, form: { user_code: "BBBB-BBBB" }, status: 403 },
  { to: `GET ${PROVIDER}/device/x`, status: 400 },
  {
    to: `POST ${PROVIDER}/device/auth`,
    form: DEVICE,
    status: 200,
    // And how many the address has begun.
    rows: { [DOCUMENT]: 1, iam_throttles: 1 },
    bytes: 4000,
    seconds: 600,
  },
  {
    to: `POST ${PROVIDER}/token`,
    form: { client_id: TV, grant_type: "refresh_token", refresh_token: "x".repeat(40_000) },
    status: 400,
  },
  {
    to: `POST ${PROVIDER}/token`,
    form: { client_id: LOGIN_CLIENT, grant_type: "client_credentials" },
    status: 401,
    ...EVENT,
  },
  {
    to: `POST ${PROVIDER}/token/introspection`,
    form: { client_id: LOGIN_CLIENT, token: "x" },
    status: 401,
    ...EVENT,
  },
  { to: `POST ${PROVIDER}/token/revocation`, form: { client_id: TV, token: "x" }, status: 200 },
  { to: `GET ${PROVIDER}/jwks`, status: 200 },
  { to: `GET ${PROVIDER}/.well-known/openid-configuration`, status: 200 },
  { to: `GET ${PROVIDER}/.well-known/oauth-authorization-server`, status: 200 },
  { to: `GET /.well-known/oauth-authorization-server${PROVIDER}`, status: 200 },
  { to: `OPTIONS /.well-known/oauth-authorization-server${PROVIDER}`, status: 204 },
  { to: `GET ${PROVIDER}/passkeys.js`, status: 200 },
  { to: `GET ${PROVIDER}/session/end`, query: { state: "s".repeat(4096) }, status: 200 },
  { to: `GET ${PROVIDER}/session/end`, query: { id_token_hint: "x" }, status: 400 },
  { to: `POST ${PROVIDER}/session/end`, form: { state: "s".repeat(4096) }, status: 303 },
  { to: `GET ${PROVIDER}/session/end/success`, status: 200 },
  { to: `POST ${PROVIDER}/session/end/confirm`, form: { logout: "yes" }, status: 303 },
  { to: `GET ${PROVIDER}/account`, status: 303 },
  { to: `GET ${PROVIDER}/account/password`, status: 303 },
  { to: `POST ${PROVIDER}/account/password`, form: { password: "x" }, status: 403 },
  { to: "GET /v1/iam/ui/login", query: { return_to: "/x" }, status: 303 },
  { to: "GET /v1/iam/ui/account", status: 303 },
  { to: "GET /v1/iam/ui/icon", status: 200 },
  { to: "GET /v1/iam/ui/none", status: 404 },
  { to: "GET /v1/iam/oauth2/callback", query: { state: "x", code: "y" }, status: 400, ...EVENT },
  { to: "GET /v1/iam/logout", status: 200 },
  { to: "POST /v1/iam/logout", form: {}, status: 303, statusWithCookies: 403 },
  { to: "GET /v1/iam/ui/password-reset", status: 404 },
  { to: "GET /v1/iam/ui/password-reset", query: { token: "x" }, status: 404, ...EVENT },
  { to: "POST /v1/iam/ui/password-reset", form: { password: "x" }, status: 403 },
  { to: "GET /v1/iam/ui/bootstrap", query: { token: "x" }, status: 404, ...EVENT },
  { to: "POST /v1/iam/ui/bootstrap", form: { token: "x" }, status: 404, ...EVENT },
  { to: "GET /v1/iam/ui/bootstrap/callback", status: 404 },
  {
    to: "GET /v1/iam/login-url",
    query: { redirect_uri: REDIRECT_URI, state: "s", code_challenge: CHALLENGE },
    status: 200,
  },
  { to: "GET /.well-known/authzen-configuration", status: 200 },
  { to: "POST /.well-known/authzen-configuration", json: {}, status: 405 },
  { to: "GET /access/v1/evaluation", status: 405 },
  { to: "POST /access/v1/evaluation", json: {}, status: 401 },
  { to: "GET /access/v1/evaluations", status: 405 },
  { to: "POST /access/v1/evaluations", json: {}, status: 401 },
];
