import { createHash } from "node:crypto";
import { AuthzError } from "../../engine/authz-error.ts";
import type { Revision } from "../../engine/requests.ts";

const PREFIX = "1:spicedb:";

/** Our revision token around a ZedToken: it contains its version and engine. */
export function revisionOf(zedToken: string): Revision {
  return Buffer.from(PREFIX + zedToken).toString("base64url");
}

/**
 * The ZedToken in a revision token.
 *
 * @throws AuthzError INVALID_ARGUMENT if it is malformed or belongs to another engine
 */
export function zedTokenOf(revision: Revision): string {
  const text = Buffer.from(String(revision), "base64url").toString();
  const zedToken = text.slice(PREFIX.length);
  // Encoded again, because the decoder ignores characters that are not base64url.
  const isOurs = text.startsWith(PREFIX) && revisionOf(zedToken) === revision;
  if (!isOurs || !isZedToken(zedToken)) {
    throw new AuthzError("INVALID_ARGUMENT", "the revision token is malformed");
  }
  return zedToken;
}

/** The fields that a ZedToken may consist of, each with its length in front: of the versions 0 and 1. */
const FIELDS = [0x12, 0x1a];

/**
 * Whether a text has the form of a ZedToken. A fully consistent read does not send the requested
 * state to SpiceDB, so SpiceDB would not refuse a string that is not a token.
 */
function isZedToken(text: string): boolean {
  const bytes = Buffer.from(text, "base64");
  const [field = 0, low = 0, high = 0] = bytes;
  if (bytes.toString("base64") !== text || !FIELDS.includes(field)) return false;
  const [length, head] = low < 0x80 ? [low, 2] : [(low & 0x7f) | (high << 7), 3];
  return length > 0 && bytes.length === head + length;
}

const VERSION = "1:spicedb-cursor";

/** Where the next page of a listing begins: the state it lists, and what was listed last. */
export interface SpicedbCursor {
  readonly zedToken: string;
  /** The last item of the page before, or SpiceDB's own cursor. */
  readonly after: string;
}

/** A cursor as the caller holds it; it is valid for the same listing only. */
export function formatCursor(listing: readonly unknown[], cursor: SpicedbCursor): string {
  const parts = [VERSION, digest(listing), cursor.zedToken, cursor.after];
  return Buffer.from(JSON.stringify(parts)).toString("base64url");
}

/**
 * Reads a cursor.
 *
 * @param listing what is listed; a cursor of another listing is refused
 * @throws AuthzError INVALID_ARGUMENT
 */
export function parseCursor(listing: readonly unknown[], cursor: string): SpicedbCursor {
  const parts = parseParts(cursor);
  if (parts === undefined) throw new AuthzError("INVALID_ARGUMENT", "the cursor is malformed");
  const [, of, zedToken, after] = parts;
  if (of !== digest(listing)) {
    throw new AuthzError("INVALID_ARGUMENT", "the cursor belongs to another request");
  }
  return { zedToken: zedToken as string, after: after as string };
}

function parseParts(cursor: string): readonly string[] | undefined {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, "base64url").toString());
    const wellFormed =
      Array.isArray(parts) &&
      parts.length === 4 &&
      parts.every((part) => typeof part === "string") &&
      parts[0] === VERSION &&
      isZedToken(parts[2] ?? "");
    return wellFormed ? parts : undefined;
  } catch {
    return undefined;
  }
}

function digest(listing: readonly unknown[]): string {
  return createHash("sha256").update(JSON.stringify(listing)).digest("base64url").slice(0, 22);
}
