import type { CallHeaders } from "../../call/call-headers.ts";
import { ServiceError } from "../../error/service-error.ts";

const PREFIX = "Bearer ";
const SCHEME = /^bearer(?![!#$%&'*+\-.^_`|~0-9A-Za-z])/i;
/** Longer tokens are refused before they are processed. */
const MAX_TOKEN_LENGTH = 16 * 1024;

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

/**
 * The error of a token that is not accepted. The reason is a fixed text, never text of the token.
 */
export function invalidToken(reason: string, cause?: unknown): ServiceError {
  return new ServiceError("UNAUTHORIZED", `invalid token: ${reason}`, { cause });
}

/**
 * The error of a genuine token whose bearer is refused, for example because it was revoked. It is a
 * decision about the caller, so other credentials of the call are not tried.
 */
export class BearerRefused extends ServiceError {
  constructor(reason: string) {
    super("UNAUTHORIZED", `invalid token: ${reason}`);
  }
}
