import type { CallContext, Principal } from "../../call/call-context.ts";
import type { RevocableToken } from "./revocation-list.ts";

/** The tokens that callers were authenticated with; a principal is that of one token. */
const TOKENS = new WeakMap<Principal, RevocableToken>();

/** Remembers which token a principal is of, for as long as the principal is used. */
export function rememberToken(principal: Principal, token: RevocableToken): void {
  TOKENS.set(principal, token);
}

/**
 * The token that a call was authenticated with, as revocations name it: for a handler whose call goes
 * on after tokens of its caller may have been revoked. Undefined for callers whom the gateway or an internal
 * token names.
 *
 * @example
 * ```ts
 * function assertNotRevoked(context: CallContext, revocations: RevocationList): void {
 *   const token = revocableTokenOf(context);
 *   if (token !== undefined && revocations.isRevoked(token)) throw new ServiceError("UNAUTHORIZED");
 * }
 * ```
 */
export function revocableTokenOf({
  principal,
}: Pick<CallContext, "principal">): RevocableToken | undefined {
  return principal === undefined ? undefined : TOKENS.get(principal);
}
