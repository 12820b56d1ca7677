import type { CallHeaders } from "../call/call-headers.ts";
import { invalidToken } from "./invalid-token.ts";

const PREFIX = "Bearer ";
const SCHEME = /^bearer(?![!#$%&'*+\-.^_`|~0-9A-Za-z])/i;
/** Longer tokens are refused before anything is worked out of them. */
const MAX_TOKEN_LENGTH = 16 * 1024;

/**
 * The token of `Authorization: Bearer`, with that prefix to the letter (spec 5.2);
 * undefined where there is none, or another scheme. Nowhere else is one looked for.
 *
 * @throws ServiceError UNAUTHORIZED where it is not clear which token is meant
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
