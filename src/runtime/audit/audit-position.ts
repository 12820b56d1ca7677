import { invalid } from "./audit-filter.ts";
import { seal, unseal } from "./sealed-text.ts";

const VERSION = "1:audit-position";
/** An id, or `LAST`. */
const ID = /^([0-9a-f-]{36}|~?)$/;

/** Sorts after the id of every event. */
export const LAST = "~";

/** How far a follower has come. */
export interface AuditPosition {
  /** The last change that it was given. */
  readonly change: number;
  readonly id: string;
  /** Up to when it was given the events whose time was up without an outcome. */
  readonly expired: number;
  readonly expiredId: string;
}

/** A position as the caller holds it. */
export function formatPosition({ change, id, expired, expiredId }: AuditPosition): string {
  return seal([VERSION, change, id, expired, expiredId]);
}

/** @throws ServiceError INVALID_ARGUMENT where it was altered */
export function parsePosition(text: string): AuditPosition {
  const [version, change, id, expired, expiredId] = unseal(text);
  const isWhole =
    version === VERSION &&
    [change, expired].every((each) => Number.isSafeInteger(each)) &&
    [id, expiredId].every((each) => typeof each === "string" && ID.test(each));
  if (!isWhole) throw invalid("the position is malformed");
  return { change, id, expired, expiredId } as AuditPosition;
}
