import { parseUniqueJson } from "../../../common/scan-json.ts";
import { invalidToken } from "./bearer-token.ts";

/** An object of JSON. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Base64url without padding, whose unused bits are zero: one token has one spelling. */
const CANONICAL =
  /^(?:[A-Za-z0-9_-]{4})*(?:[A-Za-z0-9_-][AQgw]|[A-Za-z0-9_-]{2}[AEIMQUYcgkosw048])?$/;
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * The header of a token in compact form, unverified. The payload is not read before the signature
 * is verified.
 *
 * @throws ServiceError UNAUTHORIZED if it does not have this form
 */
export function readTokenHeader(token: string): JsonObject {
  const parts = token.split(".", 4);
  if (parts.length !== 3) throw invalidToken("it is not a JWT");
  for (const part of parts) {
    if (part === "" || !CANONICAL.test(part)) throw invalidToken("it is not a JWT");
  }
  return readJsonObject(Buffer.from(parts[0] as string, "base64url"));
}

/**
 * A part of a token as an object.
 *
 * @throws ServiceError UNAUTHORIZED if it is not a JSON object, or has a key twice
 */
export function readJsonObject(bytes: Uint8Array): JsonObject {
  let value: unknown;
  try {
    value = parseUniqueJson(utf8.decode(bytes));
  } catch (error) {
    throw invalidToken("it is not a JWT", error);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw invalidToken("it is not a JWT");
  }
  return value as JsonObject;
}

/** The header of an acceptable token. */
export interface TokenHeader {
  readonly algorithm: string;
  readonly keyId: string | undefined;
  /** Whether its type says that it is an access token (RFC 9068). */
  readonly isAccessToken: boolean;
}

const MAX_KEY_ID_LENGTH = 256;
/**
 * Keys in the token itself prove nothing (CVE-2018-0114); extensions and nested tokens are not
 * supported.
 */
const REFUSED = ["jwk", "jku", "x5u", "x5c", "crit", "b64", "cty", "enc", "zip"] as const;

/**
 * Checks the header of a token before its key is looked up.
 *
 * @throws ServiceError UNAUTHORIZED if it is not acceptable
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
