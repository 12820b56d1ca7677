import { AuthzError } from "../../engine/authz-error.ts";

const LEGAL = /^[a-zA-Z0-9/_|\-=+]$/;
const ESCAPE = /=[0-9A-F]{2}/;
const encoder = new TextEncoder();
// With `ignoreBOM`, a byte order mark stays part of the id.
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * An object id as SpiceDB accepts it: `[a-zA-Z0-9/_|\-=+]+`.
 *
 * Every other byte of its UTF-8 becomes `=` and two upper-case hex digits, and so does a `=` that
 * would read as an escape. Ids that SpiceDB accepts and that hold no such escape stay as they are.
 * No two ids give the same; 256 bytes give at most 768 characters of the 1,024. `*` is the wildcard.
 */
export function encodeSpicedbId(id: string): string {
  if (id === "*") return id;
  // From the right, so that what follows a `=` is known when it is reached.
  let encoded = "";
  const bytes = encoder.encode(id);
  for (let index = bytes.length - 1; index >= 0; index--) {
    const byte = bytes[index] as number;
    const character = String.fromCharCode(byte);
    const escapes = !LEGAL.test(character) || /^=[0-9A-F]{2}/.test(character + encoded);
    encoded = (escapes ? escapeOf(byte) : character) + encoded;
  }
  return encoded;
}

/**
 * The object id that `encodeSpicedbId` turned into this one.
 *
 * @throws AuthzError FAILED_PRECONDITION if it gives no such id: another program wrote it, and
 * decoding it would give a wrong id
 */
export function decodeSpicedbId(encoded: string): string {
  if (!ESCAPE.test(encoded)) return encoded;
  const decoded = unescape(encoded);
  if (decoded === undefined || encodeSpicedbId(decoded) !== encoded) {
    throw new AuthzError(
      "FAILED_PRECONDITION",
      `SpiceDB has the object id "${encoded}", which this program never writes`,
    );
  }
  return decoded;
}

function unescape(encoded: string): string | undefined {
  const bytes: number[] = [];
  for (let index = 0; index < encoded.length; index++) {
    const escape = encoded.slice(index, index + 3);
    const escaped = escape.length === 3 && ESCAPE.test(escape);
    bytes.push(escaped ? Number.parseInt(escape.slice(1), 16) : encoded.charCodeAt(index));
    if (escaped) index += 2;
  }
  try {
    return decoder.decode(Uint8Array.from(bytes));
  } catch {
    return undefined;
  }
}

function escapeOf(byte: number): string {
  return `=${byte.toString(16).toUpperCase().padStart(2, "0")}`;
}
