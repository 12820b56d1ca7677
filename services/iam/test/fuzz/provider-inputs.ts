import { CALLBACK, CONSOLE } from "../support/provider-server.ts";
import type { Random } from "../support/random.ts";
import {
  encoded,
  type FuzzRequest,
  MARKUP,
  METHODS,
  mutated,
  PIECES,
  TYPES,
} from "./fuzz-texts.ts";

/** What inputs are made of that were valid a moment ago. */
export interface Known {
  readonly cookies: readonly string[];
  readonly interactions: readonly string[];
  readonly tokens: readonly string[];
  readonly codes: readonly string[];
  readonly formTokens: readonly string[];
  readonly userCodes: readonly string[];
}

const PATHS = [
  "/auth",
  "/auth",
  "/auth/$interaction",
  "/token",
  "/token",
  "/token/introspection",
  "/token/revocation",
  "/session/end",
  "/session/end/confirm",
  "/session/end/success",
  "/device",
  "/device/auth",
  "/device/$interaction",
  "/interaction/$interaction",
  "/interaction/$interaction",
  "/jwks",
  "/.well-known/openid-configuration",
  "/me",
  "/request",
  "",
] as const;

/** A random request to the provider. */
export function fuzzRequest(random: Random, known: Known): FuzzRequest {
  const method = random.pick(METHODS);
  const interaction = random.pick([...known.interactions, "x", random.pick(PIECES)]);
  const path = mutated(
    random,
    4,
    random.pick(PATHS).replace("$interaction", () => interaction),
  );
  const parameters = encoded(random, parametersFor(random, path, known));
  const isBody = method === "POST" && random.chance(80);
  return {
    method,
    path: `/v1/iam/oidc${path}${isBody ? "" : `?${parameters}`}`,
    headers: headersFor(random, known, isBody),
    body: isBody ? parameters : undefined,
  };
}

function parametersFor(random: Random, path: string, known: Known): [string, string][] {
  const token = random.pick([...known.tokens, "x.y.z", "x"]);
  const all: Record<string, Record<string, string>> = {
    "/auth": {
      client_id: CONSOLE.id,
      redirect_uri: CALLBACK,
      response_type: "code",
      scope: "openid profile email",
      state: "s",
      nonce: "n",
      code_challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
      code_challenge_method: "S256",
      ...(random.chance(20) ? { prompt: random.pick(["none", "login", "consent"]) } : {}),
      ...(random.chance(10) ? { max_age: random.pick(["0", "-1", "x"]) } : {}),
      ...(random.chance(10) ? { response_mode: random.pick(["fragment", "form_post"]) } : {}),
      ...(random.chance(10) ? { id_token_hint: token } : {}),
      ...(random.chance(10) ? { login_hint: MARKUP } : {}),
      ...(random.chance(5) ? { request: token } : {}),
      ...(random.chance(5) ? { claims: "{}" } : {}),
    },
    "/token": {
      grant_type: random.pick([
        "authorization_code",
        "refresh_token",
        "client_credentials",
        "urn:ietf:params:oauth:grant-type:device_code",
        "password",
      ]),
      code: random.pick([...known.codes, "x"]),
      redirect_uri: CALLBACK,
      code_verifier: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
      refresh_token: token,
      device_code: "x",
      scope: "openid",
    },
    "/device": {
      user_code: random.pick([...known.userCodes, "BBBB-BBBB"]),
      xsrf: "x",
      confirm: "yes",
      form_token: random.pick(known.formTokens),
    },
    "/device/auth": { client_id: CONSOLE.id, scope: "openid" },
    "/session/end": {
      id_token_hint: token,
      post_logout_redirect_uri: "https://app.example.com/bye",
      state: MARKUP,
      client_id: CONSOLE.id,
    },
    "/session/end/confirm": {
      xsrf: "x",
      logout: "yes",
      form_token: random.pick(known.formTokens),
    },
    "/session/end/success": { client_id: CONSOLE.id },
  };
  const fallback = path.startsWith("/interaction")
    ? {
        action: random.pick(["login", "consent", "cancel", ""]),
        username: "alice",
        password: "x",
        form_token: random.pick(known.formTokens),
      }
    : { token, token_type_hint: "access_token" };
  return Object.entries(all[path] ?? fallback);
}

function headersFor(random: Random, known: Known, isBody: boolean): Record<string, string> {
  const basic = Buffer.from(`${CONSOLE.id}:${CONSOLE.secret}`).toString("base64");
  const cookie = mutated(random, 20, random.pick([...known.cookies, "iam_session=x", ""]));
  return {
    ...(isBody ? { "content-type": random.pick(TYPES) } : {}),
    ...(random.chance(50) ? { authorization: mutated(random, 10, `Basic ${basic}`) } : {}),
    ...(cookie === "" ? {} : { cookie }),
    ...(random.chance(10) ? { "x-forwarded-host": "evil.example.net" } : {}),
    ...(random.chance(10) ? { origin: random.pick(["null", "https://evil.example.net"]) } : {}),
    ...(random.chance(10) ? { "sec-fetch-site": random.pick(["cross-site", "same-origin"]) } : {}),
    ...(random.chance(10) ? { accept: random.pick(["application/json", "*/*", MARKUP]) } : {}),
    ...(random.chance(50) ? { accept: "text/html" } : {}),
  };
}
