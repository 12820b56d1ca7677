import { createHash } from "node:crypto";
import type { Database } from "../../../database/database.ts";
import { timeOfEventId } from "../event/audit-event.ts";
import type { AuditTables } from "../tables/audit-table.ts";
import { invalid } from "./audit-filter.ts";

/**
 * Encodes parts as an opaque cursor or position. It grants no access; its checksum only detects
 * accidents.
 */
function seal(parts: readonly unknown[]): string {
  return Buffer.from(JSON.stringify([...parts, checksum(parts)])).toString("base64url");
}

/** The parts that `seal` was given; empty if the text was altered. */
function unseal(text: unknown): readonly unknown[] {
  try {
    const bytes = Buffer.from(String(text), "base64url");
    if (bytes.toString("base64url") !== text) return [];
    const all: unknown = JSON.parse(bytes.toString());
    if (!Array.isArray(all)) return [];
    const parts = all.slice(0, -1);
    return all.at(-1) === checksum(parts) ? parts : [];
  } catch {
    return [];
  }
}

function checksum(parts: readonly unknown[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("base64url").slice(0, 11);
}

const CURSOR_VERSION = "1:audit-cursor";
/** An id of an event; PostgreSQL does not accept every text. */
const EVENT_ID = /^[0-9a-f-]{36}$/;

/** The last event of the page before. */
export interface AuditCursor {
  readonly time: number;
  readonly id: string;
}

/** A cursor as the caller holds it. */
export function formatCursor(filter: string, { time, id }: AuditCursor): string {
  return seal([CURSOR_VERSION, filter, time, id]);
}

/** @throws ServiceError INVALID_ARGUMENT if it was altered, or belongs to another filter */
export function parseCursor(filter: string, cursor: string): AuditCursor {
  const [version, of, time, id] = unseal(cursor);
  const isWhole =
    version === CURSOR_VERSION &&
    typeof of === "string" &&
    Number.isSafeInteger(time) &&
    typeof id === "string" &&
    EVENT_ID.test(id);
  if (!isWhole) throw invalid("the cursor is malformed");
  if (of !== filter) throw invalid("the cursor belongs to another request");
  return { time: time as number, id };
}

const POSITION_VERSION = "2:audit-position";
/** Without the last event. */
const OLD_POSITION_VERSION = "1:audit-position";
/** An id, or `LAST`. */
const POSITION_ID = /^([0-9a-f-]{36}|~?)$/;

/** Sorts after the id of every event. */
export const LAST = "~";

/** The progress of a follower. */
export interface AuditPosition {
  /** The last change that it received. */
  readonly change: number;
  readonly id: string;
  /** The time up to which it received the events whose time was up without an outcome. */
  readonly expired: number;
  readonly expiredId: string;
  /**
   * The last event that was stored by then, which detects a restored database; absent if there was
   * none.
   */
  readonly last?: StoredEvent | undefined;
}

/** An event as it was stored by a change. */
interface StoredEvent {
  readonly change: number;
  readonly id: string;
}

/** A position as the caller holds it. */
export function formatPosition(position: AuditPosition): string {
  const { change, id, expired, expiredId, last } = position;
  return seal([
    POSITION_VERSION,
    change,
    id,
    expired,
    expiredId,
    last?.change ?? -1,
    last?.id ?? "",
  ]);
}

/** @throws ServiceError INVALID_ARGUMENT if it was altered */
export function parsePosition(text: string): AuditPosition {
  const [version, change, id, expired, expiredId, lastChange = -1, lastId = ""] = unseal(text);
  const isWhole =
    (version === POSITION_VERSION || version === OLD_POSITION_VERSION) &&
    [change, expired, lastChange].every((each) => Number.isSafeInteger(each)) &&
    [id, expiredId, lastId].every((each) => typeof each === "string" && POSITION_ID.test(each));
  if (!isWhole) throw invalid("the position is malformed");
  const last = lastId === "" ? undefined : { change: lastChange, id: lastId };
  return { change, id, expired, expiredId, last } as AuditPosition;
}

const DAY = 86_400_000;

/** The last event that was stored by a change; undefined if there is none. */
export async function lastStored(
  { kysely }: Database<AuditTables>,
  head: number,
): Promise<StoredEvent | undefined> {
  const row = await kysely
    .selectFrom("audit_events")
    .select(["change", "id"])
    .where("change", "<=", head)
    .orderBy("change", "desc")
    .orderBy("id", "desc")
    .limit(1)
    .executeTakeFirst();
  return row === undefined ? undefined : { change: Number(row.change), id: row.id };
}

/**
 * Whether a stored event is not in the history of this database, as when an earlier state was
 * restored: changes are then counted again, and new ones would be mistaken for known ones. A
 * missing event alone proves nothing, since old ones are removed; but the oldest are removed first,
 * by their change or by their time.
 */
export async function isRestored(
  { kysely }: Database<AuditTables>,
  { last }: AuditPosition,
): Promise<boolean> {
  if (last === undefined) return false;
  const row = await kysely
    .selectFrom("audit_events")
    .select("change")
    .where("id", "=", last.id)
    .executeTakeFirst();
  // It has a later change once it is completed, and never an earlier one.
  if (row !== undefined) return Number(row.change) < last.change;
  const time = timeOfEventId(last.id);
  const other = await kysely
    .selectFrom("audit_events")
    .select("id")
    .where("change", "<", last.change)
    // No call takes a day, so an event that was stored earlier did not begin that much later.
    .where((eb) => eb.or([eb("time", "<", time), eb("time", ">", time + DAY)]))
    .limit(1)
    .executeTakeFirst();
  return other !== undefined;
}

/** The refusal of a position that belongs to another history. */
export function restored() {
  return invalid(
    "the position belongs to another state of this database: the database was restored or replaced; follow from start or end",
  );
}
