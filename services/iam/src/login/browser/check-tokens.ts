import { decodeJwt, type JWTPayload } from "jose";
import { type Principal, ServiceError, type TokenVerifier } from "svc-access/runtime";
import type { Tokens } from "../../provider/identity-provider.ts";

/** Access tokens are refreshed so long before they expire, shorter ones after two thirds of their life. */
const REFRESH_BEFORE_MS = 60_000;
const SOONEST_MS = 1000;

/**
 * Checks tokens that the provider has issued for a browser: this service must accept the access
 * token, and an ID token must name the same person. The provider's client has verified the latter.
 *
 * @returns whose tokens they are
 * @throws ServiceError UNAUTHORIZED if it does not accept them; UNAVAILABLE if that is not known now
 */
export async function checkTokens(
  verifier: TokenVerifier,
  { accessToken, idToken }: Pick<Tokens, "accessToken" | "idToken">,
): Promise<Principal> {
  const token = await verifier.verify(accessToken);
  if (!token.active) {
    throw notAccepted(token.reason);
  }
  const { principal } = token;
  if (idToken !== "" && decodeJwt(idToken).sub !== principal.subjectId) {
    throw new ServiceError(
      "UNAUTHORIZED",
      "the ID token and the access token name different people",
    );
  }
  return principal;
}

/**
 * When an access token should be refreshed, in milliseconds since the epoch, as `now`.
 *
 * @throws ServiceError UNAUTHORIZED if it is not a JWT with its times
 */
export function refreshTimeOf(accessToken: string, now: number): number {
  const { iat, exp } = claimsOf(accessToken);
  if (iat === undefined || exp === undefined) throw notAccepted("it does not say when it expires");
  const early = Math.min(REFRESH_BEFORE_MS, ((exp - iat) * 1000) / 3);
  // A provider whose clock is far behind is not asked with each request.
  return Math.max(Math.floor(exp * 1000 - early), now + SOONEST_MS);
}

function claimsOf(token: string): JWTPayload {
  try {
    return decodeJwt(token);
  } catch (error) {
    throw notAccepted("it is not a JWT", error);
  }
}

function notAccepted(why: string, cause?: unknown): ServiceError {
  const message = `the access token of the identity provider is not accepted here: ${why}`;
  return new ServiceError("UNAUTHORIZED", message, { cause });
}
