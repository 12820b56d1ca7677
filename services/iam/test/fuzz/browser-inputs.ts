import { REDIRECT_URI } from "../support/iam-service.ts";
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
export interface KnownBrowser {
  /** Whole cookies, by what they are: sessions, logins under way, the links of a password and of the first owner. */
  readonly cookies: readonly string[];
  /** The parameters of a callback. */
  readonly states: readonly string[];
  readonly codes: readonly string[];
  /** The tokens of links. */
  readonly resets: readonly string[];
  readonly bootstraps: readonly string[];
  readonly formTokens: readonly string[];
  readonly userCodes: readonly string[];
}

const PATHS = [
  "/v1/iam/ui/login",
  "/v1/iam/ui/login",
  "/v1/iam/ui/account",
  "/v1/iam/oauth2/callback",
  "/v1/iam/oauth2/callback",
  "/v1/iam/logout",
  "/v1/iam/logout",
  "/v1/iam/ui/bootstrap",
  "/v1/iam/ui/bootstrap",
  "/v1/iam/ui/bootstrap/callback",
  "/v1/iam/ui/password-reset",
  "/v1/iam/ui/password-reset",
  "/v1/iam/oidc/account",
  "/v1/iam/oidc/account",
  "/v1/iam/oidc/account/password",
  "/v1/iam/oidc/account/sessions",
  "/v1/iam/oidc/account/factors",
  "/v1/iam/oidc/account/others",
  "/v1/iam/oidc/device",
] as const;

/** Where a login may be told to lead. */
const RETURNS = [
  "/skills?q=1",
  "//evil.example.net",
  "/\\evil.example.net",
  "https://evil.example.net/",
  "/v1/iam/oauth2/callback",
  "/%09/evil.example.net",
  "/..//evil.example.net",
  MARKUP,
] as const;

/** Markup that is not a new password: the logins of later inputs use the old one. */
const TOO_SHORT = MARKUP.slice(0, 11);

/** A random request to the pages of browsers of a whole service. */
export function browserRequest(random: Random, known: KnownBrowser): FuzzRequest {
  const method = random.pick(METHODS);
  const path = mutated(random, 4, random.pick(PATHS));
  const parameters = encoded(random, Object.entries(parametersFor(random, path, known)));
  const isBody = method === "POST" && random.chance(80);
  return {
    method,
    path: isBody ? path : `${path}?${parameters}`,
    headers: headersFor(random, known, isBody),
    body: isBody ? parameters : undefined,
  };
}

function parametersFor(random: Random, path: string, known: KnownBrowser): Record<string, string> {
  const some = (values: readonly string[]) => random.pick([...values, random.pick(PIECES)]);
  const form_token = some(known.formTokens);
  const common = random.chance(10) ? { ui_locales: random.pick(["de", MARKUP]) } : {};
  const of: Record<string, Record<string, string>> = {
    "/v1/iam/ui/login": { return_to: random.pick(RETURNS) },
    "/v1/iam/oauth2/callback": {
      code: some(known.codes),
      state: some(known.states),
      ...(random.chance(30) ? { iss: "https://evil.example.net" } : {}),
      ...(random.chance(10) ? { error: MARKUP, error_description: MARKUP } : {}),
    },
    "/v1/iam/logout": { form_token, return_to: random.pick(RETURNS) },
    "/v1/iam/ui/bootstrap": {
      token: some(known.bootstraps),
      username: random.pick(["root", MARKUP]),
      display_name: random.pick(["Ruth", MARKUP]),
      email: random.pick(["ruth@example.com", MARKUP]),
      // Too short: it makes nobody the owner.
      password: "x",
      repeated: "x",
    },
    "/v1/iam/ui/bootstrap/callback": { code: some(known.codes), state: some(known.states) },
    "/v1/iam/ui/password-reset": {
      token: some(known.resets),
      form_token,
      password: random.pick(["x", TOO_SHORT]),
      repeated: random.pick(["x", TOO_SHORT]),
    },
    "/v1/iam/oidc/device": {
      user_code: some(known.userCodes),
      form_token,
      ...(random.chance(30) ? { confirm: "yes" } : {}),
    },
  };
  const account = {
    form_token,
    action: random.pick([
      "profile",
      "preferences",
      "all",
      "app",
      "passkey",
      "ask_removal",
      "remove",
      "",
    ]),
    display_name: random.pick(["Alice", MARKUP]),
    avatar_url: random.pick(["", "https://evil.example.net/", "javascript:alert(1)", MARKUP]),
    current_password: "x",
    password: MARKUP,
    repeated: MARKUP,
    session: MARKUP,
    factor: MARKUP,
    language: random.pick(["de", MARKUP]),
    done: random.pick(["profile", MARKUP]),
    ...(random.chance(5) ? { error: MARKUP } : {}),
    ...(random.chance(5) ? { code: "x", state: random.pick(["sessions", MARKUP]) } : {}),
    redirect_uri: REDIRECT_URI,
  };
  return { ...(of[path] ?? account), ...common };
}

function headersFor(random: Random, known: KnownBrowser, isBody: boolean): Record<string, string> {
  const cookies = known.cookies.filter(() => random.chance(50));
  if (random.chance(10)) cookies.push(random.pick(known.cookies));
  const cookie = mutated(random, 20, cookies.join("; "));
  // Pages are limited by address.
  const address = `198.${18 + random.below(2)}.${random.below(256)}.${random.below(256)}`;
  return {
    "x-forwarded-for": address,
    ...(isBody ? { "content-type": random.pick(TYPES) } : {}),
    ...(cookie === "" ? {} : { cookie }),
    ...(random.chance(10) ? { "x-forwarded-host": "evil.example.net" } : {}),
    ...(random.chance(10) ? { origin: random.pick(["null", "https://evil.example.net"]) } : {}),
    ...(random.chance(10) ? { "sec-fetch-site": random.pick(["cross-site", "same-origin"]) } : {}),
    ...(random.chance(10) ? { "accept-language": random.pick(["de", MARKUP]) } : {}),
    ...(random.chance(10) ? { accept: random.pick(["application/json", "*/*", MARKUP]) } : {}),
    ...(random.chance(50) ? { accept: "text/html" } : {}),
  };
}
