import { createHash } from "node:crypto";
import { invalid } from "./audit-filter.ts";

const VERSION = "1:audit-cursor";
/** An id of an event; PostgreSQL would not even take every text. */
const ID = /^[0-9a-f-]{36}$/;

/** The last event of the page before. */
export interface AuditCursor {
  readonly time: number;
  readonly id: string;
}

/** A cursor as the caller holds it. */
export function formatCursor(filter: string, { time, id }: AuditCursor): string {
  const parts = [VERSION, filter, time, id];
  return Buffer.from(JSON.stringify([...parts, checksum(parts)])).toString("base64url");
}

/** @throws ServiceError INVALID_ARGUMENT where it was altered, or is of another filter */
export function parseCursor(filter: string, cursor: string): AuditCursor {
  const [version, of, time, id, sum] = partsOf(cursor);
  const isWhole =
    version === VERSION &&
    typeof of === "string" &&
    Number.isSafeInteger(time) &&
    typeof id === "string" &&
    ID.test(id) &&
    sum === checksum([version, of, time, id]);
  if (!isWhole) throw invalid("the cursor is malformed");
  if (of !== filter) throw invalid("the cursor is of another request");
  return { time: time as number, id };
}

/** Against accidents: a cursor grants nothing, for the filter holds on every page. */
function checksum(parts: readonly unknown[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("base64url").slice(0, 11);
}

function partsOf(cursor: unknown): readonly unknown[] {
  try {
    const bytes = Buffer.from(String(cursor), "base64url");
    if (bytes.toString("base64url") !== cursor) return [];
    const parts: unknown = JSON.parse(bytes.toString());
    return Array.isArray(parts) ? parts : [];
  } catch {
    return [];
  }
}
