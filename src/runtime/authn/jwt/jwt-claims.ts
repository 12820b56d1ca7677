import { isSubjectId } from "../identity/identity-text.ts";
import { BearerRefused, invalidToken, refusedToken } from "./bearer-token.ts";
import type { JsonObject } from "./jwt-header.ts";

/** The required claims of tokens, by configuration. */
export interface ClaimRules {
  readonly issuer: string;
  readonly audience: readonly string[];
  /** Empty accepts all. */
  readonly allowedOwners: readonly string[];
  readonly clockSkewMs: number;
  /** Whether the header must say that the token is an access token, as IAM's own do. */
  readonly isTypeRequired: boolean;
}

/** The data about an accepted token from its claims. Times are milliseconds since the epoch. */
export interface TokenClaims {
  readonly subject: string;
  readonly audiences: readonly string[];
  readonly id: string | undefined;
  readonly sessionId: string | undefined;
  /** The earliest it may have been: `iat` less the clock skew, as revocations are compared with it. */
  readonly issuedAt: number;
  readonly iat: number;
  readonly expiresAt: number;
}

const MAX_AUDIENCES = 100;
const MAX_ID_LENGTH = 512;
/** The last second of the year 9999: later times are mistakes, such as milliseconds. */
const MAX_TIME = 253_402_300_799;

/**
 * Checks the claims of a token whose signature was verified.
 *
 * @param now milliseconds since the epoch
 * @throws ServiceError UNAUTHORIZED if they are not acceptable
 */
export function checkClaims(
  claims: JsonObject,
  isAccessToken: boolean,
  rules: ClaimRules,
  now: number,
): TokenClaims {
  if (claims["iss"] !== rules.issuer) throw refusedToken("wrong_issuer");
  const audiences = checkAudience(claims["aud"], rules.audience);
  // An ID token has no other mark if its login had no nonce, as that of a device.
  if (rules.isTypeRequired && !isAccessToken) throw refusedToken("not_an_access_token");
  checkTokenKind(claims, isAccessToken);
  const { sub } = claims as { sub?: unknown };
  if (typeof sub !== "string" || !isSubjectId(sub)) throw invalidToken("its subject is not valid");
  const id = idOf(claims["jti"], "its id is not valid");
  const sessionId = idOf(claims["sid"], "its session id is not valid");
  const times = checkTimes(claims, rules.clockSkewMs, now);
  checkOwner(claims["owner"], rules.allowedOwners);
  return { subject: sub, audiences, id, sessionId, ...times };
}

/** An id of any other kind could not be revoked. */
function idOf(value: unknown, problem: string): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== "string" || value.length > MAX_ID_LENGTH) throw invalidToken(problem);
  return value;
}

/** Last of all, since this refuses the bearer, not the token. */
function checkOwner(owner: unknown, allowed: readonly string[]): void {
  if (allowed.length === 0 || (typeof owner === "string" && allowed.includes(owner))) return;
  throw new BearerRefused("wrong_owner");
}

/** @returns the audiences */
function checkAudience(audience: unknown, accepted: readonly string[]): readonly string[] {
  const list: unknown[] = Array.isArray(audience) ? audience : [audience];
  const isList = list.length <= MAX_AUDIENCES && list.every((one) => typeof one === "string");
  if (!isList || !list.some((one) => accepted.includes(one as string))) {
    throw refusedToken("wrong_audience");
  }
  return Object.freeze(list as string[]);
}

function checkTimes(claims: JsonObject, skewMs: number, now: number) {
  const issuedAt = timeOf(claims["iat"]);
  const expiresAt = timeOf(claims["exp"]);
  const notBefore = claims["nbf"] === undefined ? issuedAt : timeOf(claims["nbf"]);
  if (expiresAt <= issuedAt) throw invalidToken("its times are not valid");
  if (now >= expiresAt + skewMs) throw refusedToken("expired");
  if (now + skewMs < issuedAt || now + skewMs < notBefore) {
    throw refusedToken("not_yet_valid");
  }
  return { issuedAt: issuedAt - skewMs, iat: issuedAt, expiresAt };
}

/** A NumericDate, in milliseconds. */
function timeOf(value: unknown): number {
  if (typeof value !== "number" || !(value > 0 && value <= MAX_TIME)) {
    throw invalidToken("its times are not valid");
  }
  return value * 1000;
}

/** The claims in which providers state the purpose of a token: Casdoor, Cognito, Keycloak. */
const KIND_CLAIMS = ["tokenType", "TokenType", "token_type", "token_use", "typ"] as const;
const ACCESS_KINDS: ReadonlySet<string> = new Set(["access", "accesstoken", "bearer", "atjwt"]);
/** What binds an ID token to its code, access token or login. */
const ID_TOKEN_CLAIMS = ["at_hash", "c_hash", "s_hash", "nonce"] as const;

/**
 * Refuses refresh, ID and logout tokens, which the provider signs with the same key.
 *
 * @param isAccessToken whether the type in the header says so
 * @throws ServiceError UNAUTHORIZED if it is not an access token
 */
function checkTokenKind(claims: JsonObject, isAccessToken: boolean): void {
  let isAccess = isAccessToken;
  for (const name of KIND_CLAIMS) {
    const kind = claims[name];
    if (kind === undefined || kind === "") continue;
    if (typeof kind !== "string" || !ACCESS_KINDS.has(kind.toLowerCase().replace(/[^a-z]/g, ""))) {
      throw refusedToken("not_an_access_token");
    }
    isAccess = true;
  }
  if (Object.hasOwn(claims, "events")) throw refusedToken("not_an_access_token");
  // Casdoor's access token has the nonce of the login too, but says what it is.
  if (!isAccess && ID_TOKEN_CLAIMS.some((name) => Object.hasOwn(claims, name))) {
    throw refusedToken("not_an_access_token");
  }
}
