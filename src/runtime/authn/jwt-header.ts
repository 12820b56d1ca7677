import { invalidToken } from "./invalid-token.ts";
import type { JsonObject } from "./jwt-parts.ts";

/** What the header of an acceptable token says. */
export interface TokenHeader {
  readonly algorithm: string;
  readonly keyId: string | undefined;
  /** Whether its type says that it is an access token (RFC 9068). */
  readonly isAccessToken: boolean;
}

const MAX_KEY_ID_LENGTH = 256;
/** Keys that a token brings along prove nothing (CVE-2018-0114); extensions and nested tokens are not understood. */
const REFUSED = ["jwk", "jku", "x5u", "x5c", "crit", "b64", "cty", "enc", "zip"] as const;

/**
 * Looks at the header of a token before a key is looked for.
 *
 * @throws ServiceError UNAUTHORIZED where it is not acceptable
 */
export function checkTokenHeader(header: JsonObject, algorithms: ReadonlySet<string>): TokenHeader {
  const { alg, kid, typ } = header;
  if (typeof alg !== "string" || !algorithms.has(alg)) {
    throw invalidToken("its algorithm is not accepted");
  }
  for (const name of REFUSED) {
    if (Object.hasOwn(header, name)) throw invalidToken("its header is not accepted");
  }
  if (kid !== undefined && (typeof kid !== "string" || kid.length > MAX_KEY_ID_LENGTH)) {
    throw invalidToken("its key id is not valid");
  }
  return { algorithm: alg, keyId: kid, isAccessToken: isAccessTokenType(typ) };
}

function isAccessTokenType(typ: unknown): boolean {
  const type = typeof typ === "string" ? typ.toLowerCase().replace(/^application\//, "") : typ;
  if (type === "at+jwt") return true;
  if (type === undefined || type === "jwt") return false;
  throw invalidToken("its type is not accepted");
}
