import type { CallHeaders } from "../../call/call-headers.ts";
import { ServiceError } from "../../error/service-error.ts";

const PREFIX = "Bearer ";
const SCHEME = /^bearer(?![!#$%&'*+\-.^_`|~0-9A-Za-z])/i;
/** Longer tokens are refused before they are processed. */
export const MAX_TOKEN_LENGTH = 16 * 1024;

/**
 * The token of `Authorization: Bearer`, with exactly that prefix; undefined if there is none, or
 * another scheme. Tokens in other places are ignored.
 *
 * @throws ServiceError UNAUTHORIZED if the token is ambiguous
 */
export function bearerToken(headers: CallHeaders): string | undefined {
  const values = headers.all("authorization");
  if (values.length === 0) return undefined;
  // Node keeps the first, proxies may keep the last.
  if (values.length > 1) throw invalidToken("the Authorization header must occur once");
  const value = values[0] as string;
  if (!value.startsWith(PREFIX)) {
    if (SCHEME.test(value))
      throw invalidToken('the Authorization header must begin with "Bearer "');
    return undefined;
  }
  if (value.length > PREFIX.length + MAX_TOKEN_LENGTH) throw invalidToken("it is too long");
  return value.slice(PREFIX.length);
}

/** Whether a call has a Bearer token, whatever it is worth. */
export function hasBearerToken(headers: CallHeaders): boolean {
  return headers.all("authorization").some((value) => SCHEME.test(value));
}

/** What a token is refused for, where a caller may need to know; all else is `invalid`. */
const REFUSALS = {
  expired: "it has expired",
  not_yet_valid: "it is not valid yet",
  revoked: "it was revoked",
  wrong_issuer: "its issuer is not accepted",
  wrong_audience: "its audience is not accepted",
  wrong_owner: "its owner is not accepted",
  not_an_access_token: "it is not an access token",
} as const;

/**
 * Why a token is not accepted. A token without a valid signature is always `invalid`: nothing that
 * it claims is known.
 */
export type TokenRefusal = keyof typeof REFUSALS | "invalid";

/** The error of a token that is not accepted. Its message is a fixed text, never text of the token. */
export class TokenRefusedError extends ServiceError {
  readonly refusal: TokenRefusal;

  constructor(refusal: TokenRefusal, reason: string, options?: ErrorOptions) {
    super("UNAUTHORIZED", `invalid token: ${reason}`, options);
    this.refusal = refusal;
  }
}

/** The error of a token that is not acceptable as it is. */
export function invalidToken(reason: string, cause?: unknown): TokenRefusedError {
  return new TokenRefusedError("invalid", reason, { cause });
}

/** The error of a well-formed token that is not accepted. */
export function refusedToken(refusal: keyof typeof REFUSALS): TokenRefusedError {
  return new TokenRefusedError(refusal, REFUSALS[refusal]);
}

/**
 * The error of a genuine token whose bearer is refused, for example because it was revoked. It is a
 * decision about the caller, so other credentials of the call are not tried.
 */
export class BearerRefused extends TokenRefusedError {
  constructor(refusal: keyof typeof REFUSALS) {
    super(refusal, REFUSALS[refusal]);
  }
}

/**
 * The error of a genuine token if it is not known now whether it was revoked. Other credentials of
 * the call are not tried either: they may come from the same token.
 */
export class BearerUnchecked extends ServiceError {
  constructor(options?: ErrorOptions) {
    super("UNAVAILABLE", "it is not known now whether the token was revoked", options);
  }
}
