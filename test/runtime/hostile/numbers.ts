/**
 * The hostile inputs that reach a service by its sockets, by number. Each number starts
 * the title of at least one test here; `numbers.test.ts` checks that none is missing.
 * There is no 15 and no 29.
 */
export const HOSTILE_INPUTS: Readonly<Record<number, string>> = {
  1: "identity headers straight to the service, from outside the trusted peers",
  2: "a wrong or empty internal token; an empty one configured",
  3: "spoofed X-Forwarded-For",
  4: "a duplicate identity header",
  5: "the same with underscores (CVE-2025-64484)",
  6: "the same with dots",
  7: "Connection: X-Svc-User-Id (CVE-2024-45410)",
  8: "forged headers on public, health and OPTIONS routes",
  9: "an empty, blank, comma-joined or non-ASCII user id",
  10: "a JWT for one and a header for another",
  11: "identity in gRPC metadata, duplicated, -bin",
  12: "X-Forwarded-Uri, X-Envoy-Original-Path steering a skip list (CVE-2026-40575)",
  13: "X-Forwarded-Host in a link",
  14: "X-Forwarded-Proto from an untrusted peer",
  16: "alg none, None, NONE",
  17: "HS256 signed with the public PEM or the client secret (CVE-2026-33322)",
  18: "alg taken from the token where the JWK has none",
  19: "embedded jwk, jku, x5u (CVE-2018-0114)",
  20: "kid as traversal, SQL, __proto__, number",
  21: "a flood of unknown kids; rotation; a JWKS of 500, huge, slow",
  22: "exp missing, string, huge; skew at the boundary",
  23: "aud array, nested, missing; iss with a slash",
  24: "a refresh or ID token as access token",
  25: "claims read before verification",
  26: "a cache hit after expiry, rotation, revocation; across issuers",
  27: "white-space variants, non-canonical base64",
  28: "bearer in lower case, two spaces, token in the query, 1 MB",
  36: "..  %2e%2e  ..%2f  //  ;  %00 in a path",
  37: "a :path without a slash (CVE-2026-33186)",
  38: "odd Content-Type",
  39: "junk grpc-timeout, oversize frame, bogus encoding",
  40: "rapid reset, slowloris, header count",
  41: "CORS null, suffix origin, * with credentials",
  42: "CR/LF, escapes or secrets in a logged path, query, agent or error",
  43: "secret compare of unequal lengths",
};

/** Those of a login: each number starts the title of at least one test of `services/iam`. */
export const HOSTILE_LOGINS: Readonly<Record<number, string>> = {
  30: "a redirect URI that is not exactly a registered one: suffix, user, path, query, missing, two",
  31: "state missing, changed, of another browser, used again, with a line break",
  32: "a nonce of another login, or none",
  33: "no PKCE, plain, another verifier; a code that is used twice",
  34: "the answer of another issuer (mix-up)",
  35: "a session or interaction cookie that is forged, or set before the login",
};
