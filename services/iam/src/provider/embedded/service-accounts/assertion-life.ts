type OidcErrors = typeof import("oidc-provider")["errors"];

/** Each assertion is remembered until it expires, so that it works once. */
const LONGEST_SECONDS = 3600;
/** How far the clock of a client may be ahead. */
const CLOCK_SECONDS = 60;

/**
 * Refuses an assertion (RFC 7523) that could be used for too long.
 *
 * @param claims of an assertion whose signature is right
 * @param now milliseconds since the epoch
 * @throws InvalidClientAuth
 */
export function refuseLongAssertion(
  { exp }: { readonly exp?: unknown },
  now: number,
  errors: OidcErrors,
): void {
  if (typeof exp === "number" && exp <= now / 1000 + LONGEST_SECONDS + CLOCK_SECONDS) return;
  throw new errors.InvalidClientAuth("the client assertion must expire within an hour");
}
