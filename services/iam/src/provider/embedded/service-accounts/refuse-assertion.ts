type OidcErrors = typeof import("oidc-provider")["errors"];

/** Each assertion is remembered until it expires, so that it works once. */
const LONGEST_SECONDS = 3600;
/** How far the clock of a client may be ahead. */
const CLOCK_SECONDS = 60;

/** An assertion of a client, whose signature is right, and that `oidc-provider` accepts. */
export interface ClientAssertion {
  readonly header: object;
  readonly claims: { readonly aud?: unknown; readonly exp?: unknown; readonly iat?: unknown };
}

/**
 * Refuses an assertion (RFC 7523) that could be used for too long or elsewhere, or that says more than we understand.
 *
 * @param now milliseconds since the epoch
 * @throws InvalidClientAuth
 */
export function refuseAssertion(
  { header, claims }: ClientAssertion,
  now: number,
  errors: OidcErrors,
): void {
  const problem = problemOf(header, claims, now / 1000);
  if (problem !== undefined) throw new errors.InvalidClientAuth(`the client assertion ${problem}`);
}

function problemOf(header: object, { aud, exp, iat }: ClientAssertion["claims"], seconds: number) {
  // We have no extension that a signer could need (RFC 7515, 4.1.11); the verifier here knows one, `b64`, which RFC 7797
  // keeps out of JWTs.
  if ("crit" in header) return "must have no crit in its header";
  // Whoever else it is for could use it here.
  if (Array.isArray(aud) && aud.length !== 1) return "must have one audience (aud)";
  if (iat !== undefined && !(typeof iat === "number" && iat <= seconds + CLOCK_SECONDS)) {
    return "must not be issued in the future (iat)";
  }
  return typeof exp === "number" && exp <= seconds + LONGEST_SECONDS + CLOCK_SECONDS
    ? undefined
    : "must expire within an hour";
}
