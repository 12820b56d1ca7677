import { invalidToken } from "./invalid-token.ts";
import { parseUniqueJson } from "./unique-json.ts";

/** An object of JSON. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Base64url without padding, whose unused bits are zero: one token has one spelling. */
const CANONICAL =
  /^(?:[A-Za-z0-9_-]{4})*(?:[A-Za-z0-9_-][AQgw]|[A-Za-z0-9_-]{2}[AEIMQUYcgkosw048])?$/;
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * The header of a token in compact form, unverified. The payload is left alone: it
 * tells nothing before the signature was verified.
 *
 * @throws ServiceError UNAUTHORIZED where it is no such token
 */
export function readTokenHeader(token: string): JsonObject {
  const parts = token.split(".", 4);
  if (parts.length !== 3) throw invalidToken("it is no JWT");
  for (const part of parts) {
    if (part === "" || !CANONICAL.test(part)) throw invalidToken("it is no JWT");
  }
  return readJsonObject(Buffer.from(parts[0] as string, "base64url"));
}

/**
 * A part of a token as an object.
 *
 * @throws ServiceError UNAUTHORIZED where it is none, or has a key twice
 */
export function readJsonObject(bytes: Uint8Array): JsonObject {
  let value: unknown;
  try {
    value = parseUniqueJson(utf8.decode(bytes));
  } catch (error) {
    throw invalidToken("it is no JWT", error);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw invalidToken("it is no JWT");
  }
  return value as JsonObject;
}
