import { invalid } from "./audit-filter.ts";
import { seal, unseal } from "./sealed-text.ts";

const VERSION = "2:audit-position";
/** Without the last event. */
const OLD = "1:audit-position";
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
  /** The last event that was stored by then, by which a database that was restored is noticed; absent where there was none. */
  readonly last?: StoredEvent | undefined;
}

/** An event as it was stored by a change. */
export interface StoredEvent {
  readonly change: number;
  readonly id: string;
}

/** A position as the caller holds it. */
export function formatPosition(position: AuditPosition): string {
  const { change, id, expired, expiredId, last } = position;
  return seal([VERSION, change, id, expired, expiredId, last?.change ?? -1, last?.id ?? ""]);
}

/** @throws ServiceError INVALID_ARGUMENT where it was altered */
export function parsePosition(text: string): AuditPosition {
  const [version, change, id, expired, expiredId, lastChange = -1, lastId = ""] = unseal(text);
  const isWhole =
    (version === VERSION || version === OLD) &&
    [change, expired, lastChange].every((each) => Number.isSafeInteger(each)) &&
    [id, expiredId, lastId].every((each) => typeof each === "string" && ID.test(each));
  if (!isWhole) throw invalid("the position is malformed");
  const last = lastId === "" ? undefined : { change: lastChange, id: lastId };
  return { change, id, expired, expiredId, last } as AuditPosition;
}
