import { invalid } from "./audit-filter.ts";
import { seal, unseal } from "./sealed-text.ts";

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
  return seal([VERSION, filter, time, id]);
}

/** @throws ServiceError INVALID_ARGUMENT where it was altered, or is of another filter */
export function parseCursor(filter: string, cursor: string): AuditCursor {
  const [version, of, time, id] = unseal(cursor);
  const isWhole =
    version === VERSION &&
    typeof of === "string" &&
    Number.isSafeInteger(time) &&
    typeof id === "string" &&
    ID.test(id);
  if (!isWhole) throw invalid("the cursor is malformed");
  if (of !== filter) throw invalid("the cursor is of another request");
  return { time: time as number, id };
}
