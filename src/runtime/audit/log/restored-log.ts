import type { Database } from "../../../database/database.ts";
import { timeOfEventId } from "../event/audit-event.ts";
import type { AuditTables } from "../store/audit-table.ts";
import { invalid } from "./audit-filter.ts";
import type { AuditPosition, StoredEvent } from "./audit-position.ts";

const DAY = 86_400_000;

/** The last event that was stored by a change; undefined where there is none. */
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
