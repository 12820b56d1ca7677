import { createHash } from "node:crypto";
import { AuthzError } from "../authz-error.ts";

const VERSION = "1:embedded-cursor";

/** Where the next page of a listing begins. */
export interface PageCursor {
  /** The number of the last write of the state that is listed. */
  readonly sequence: number;
  /** What the page before ended with. */
  readonly after: string;
}

/** A hash of what is listed, of which store. */
export function listingKey(listing: readonly unknown[]): string {
  return createHash("sha256").update(JSON.stringify(listing)).digest("base64url").slice(0, 22);
}

/** A cursor as the caller holds it; it is of use for the same listing only. */
export function formatCursor(listing: string, { sequence, after }: PageCursor): string {
  return Buffer.from(JSON.stringify([VERSION, listing, sequence, after])).toString("base64url");
}

/** @throws AuthzError INVALID_ARGUMENT where it is malformed or of another listing */
export function parseCursor(listing: string, cursor: string): PageCursor {
  const [version, of, sequence, after] = parseParts(cursor);
  const isOurs =
    version === VERSION &&
    typeof of === "string" &&
    Number.isSafeInteger(sequence) &&
    (sequence as number) >= 0 &&
    typeof after === "string";
  // Formatted again, because the decoder skips whatever is not base64url.
  if (!isOurs || formatCursor(of, { sequence: sequence as number, after }) !== cursor) {
    throw new AuthzError("INVALID_ARGUMENT", "the cursor is malformed");
  }
  if (of !== listing) {
    throw new AuthzError("INVALID_ARGUMENT", "the cursor is of another request");
  }
  return { sequence: sequence as number, after };
}

function parseParts(cursor: string): readonly unknown[] {
  try {
    const parts: unknown = JSON.parse(Buffer.from(String(cursor), "base64url").toString());
    return Array.isArray(parts) ? parts : [];
  } catch {
    return [];
  }
}
