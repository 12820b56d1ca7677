import { createHash } from "node:crypto";
import { AuthzError } from "../authz-error.ts";
import { isZedToken } from "./revision.ts";

const VERSION = "1:spicedb-cursor";

/** Where the next page of a listing begins: the state it lists, and what was listed last. */
export interface PageCursor {
  readonly zedToken: string;
  /** The last item of the page before, or SpiceDB's own cursor. */
  readonly after: string;
}

/** A cursor as the caller holds it; it is of use for the same listing only. */
export function formatCursor(listing: readonly unknown[], cursor: PageCursor): string {
  const parts = [VERSION, digest(listing), cursor.zedToken, cursor.after];
  return Buffer.from(JSON.stringify(parts)).toString("base64url");
}

/**
 * Reads a cursor.
 *
 * @param listing what is listed; a cursor of another listing is refused
 * @throws AuthzError INVALID_ARGUMENT
 */
export function parseCursor(listing: readonly unknown[], cursor: string): PageCursor {
  const parts = parseParts(cursor);
  if (parts === undefined) throw new AuthzError("INVALID_ARGUMENT", "the cursor is malformed");
  const [, of, zedToken, after] = parts;
  if (of !== digest(listing)) {
    throw new AuthzError("INVALID_ARGUMENT", "the cursor is of another request");
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
