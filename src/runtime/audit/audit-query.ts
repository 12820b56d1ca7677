import { type Selectable, sql } from "kysely";
import type { Database } from "../../database/database.ts";
import { ServiceError } from "../error/service-error.ts";
import type { AuditEvent, AuditState } from "./audit-event.ts";
import { type AuditFilter, EQUAL_COLUMNS } from "./audit-filter.ts";
import type { AuditRow, AuditTables } from "./audit-table.ts";
import { safeText } from "./safe-text.ts";

/** The stored events that match a filter, in no order. */
export function matching(database: Database<AuditTables>, filter: AuditFilter, now: number) {
  let query = database.kysely
    .selectFrom("audit_events")
    .select(["id", "time", "state", "expires", "event"]);
  if (filter.from !== undefined) query = query.where("time", ">=", filter.from);
  if (filter.to !== undefined) query = query.where("time", "<", filter.to);
  for (const [name, column] of Object.entries(EQUAL_COLUMNS)) {
    const value = filter[name as keyof typeof EQUAL_COLUMNS];
    // As it was stored: else nobody would find what was done to an object with an odd id.
    if (value !== undefined) query = query.where(column, "=", safeText(value));
  }
  const { state } = filter;
  if (state === undefined) return query;
  query = query.where("state", "=", state === "completed" ? "completed" : "pending");
  if (state === "pending") query = query.where("expires", ">", now);
  if (state === "unknown") query = query.where("expires", "<=", now);
  return query;
}

/** Two columns, compared with two values as one key. */
export function keyed(
  columns: readonly [string, string],
  operator: "<" | "<=" | ">",
  values: readonly [number, string],
) {
  const [first, second] = columns;
  return sql<boolean>`(${sql.ref(first)}, ${sql.ref(second)}) ${sql.raw(operator)} (${values[0]}, ${values[1]})`;
}

/** The stored event; whether a pending one is still under way is known only now. */
export function eventOf(
  row: Pick<Selectable<AuditRow>, "state" | "expires" | "event">,
  now: number,
): AuditEvent {
  const event = JSON.parse(row.event) as AuditEvent;
  const isOver = row.state === "pending" && Number(row.expires) <= now;
  if (!isOver) return event;
  const state: AuditState = "unknown";
  return { ...event, data: { ...event.data, state } };
}

/** @throws ServiceError UNAVAILABLE where the database does not answer */
export async function answered<Result>(
  database: Database<AuditTables>,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw new ServiceError("UNAVAILABLE", undefined, { cause: database.explain(error) });
  }
}
