import { createHash } from "node:crypto";
import { type Selectable, sql } from "kysely";
import { RISK_LEVELS } from "../../../api/policy.ts";
import type { Database } from "../../../database/database.ts";
import { ServiceError } from "../../error/service-error.ts";
import {
  type AuditDecision,
  type AuditEvent,
  type AuditState,
  MAX_TEXT,
  type RiskLevel,
  safeText,
} from "../event/audit-event.ts";
import type { AuditRow, AuditTables } from "../tables/audit-table.ts";

/**
 * Selects the events that match every given field. Texts match exactly.
 *
 * @example
 * ```ts
 * const refused: AuditFilter = {
 *   from: Date.parse("2026-01-31T00:00:00Z"),
 *   decision: "denied",
 *   resource: "item:first",
 * };
 * ```
 */
export interface AuditFilter {
  /** Calls that began from then on, in milliseconds since the epoch. */
  readonly from?: number;
  /** Calls that began before, in milliseconds since the epoch. */
  readonly to?: number;
  /** The event's type, such as `notes.item.set`. */
  readonly type?: string;
  /** The full method name, such as `notes.v1.NotesService/SetItem`. */
  readonly rpc?: string;
  /** The subject type of the caller, such as `user`. */
  readonly principalType?: string;
  /** The subject id of the caller. */
  readonly principalId?: string;
  /** The organization of the caller. */
  readonly organization?: string;
  /** The object, as `type:id`. */
  readonly resource?: string;
  /** The outcome of authorization. */
  readonly decision?: AuditDecision;
  /** The known progress of the call. */
  readonly state?: AuditState;
  /** This level, not those above it. */
  readonly riskLevel?: RiskLevel;
  /** The code of the answer, such as `OK` or `FORBIDDEN`. */
  readonly code?: string;
  /** The id that the event of a call shares with those that its handler recorded. */
  readonly requestId?: string;
  /** The id of a trace, 32 hexadecimal digits, which calls of several services may share. */
  readonly traceId?: string;
}

/** The columns that a field of the filter is equal to. */
const EQUAL_COLUMNS = {
  type: "type",
  rpc: "rpc",
  principalType: "principal_type",
  principalId: "principal_id",
  organization: "organization",
  resource: "resource",
  decision: "decision",
  riskLevel: "risk_level",
  code: "code",
  requestId: "request_id",
  traceId: "trace_id",
} as const satisfies Partial<Record<keyof AuditFilter, string>>;

const VALUES: Readonly<Partial<Record<keyof AuditFilter, readonly string[]>>> = {
  decision: ["allowed", "denied", "none"],
  state: ["pending", "completed", "unknown"],
  riskLevel: RISK_LEVELS,
};

const TEXTS = [...Object.keys(EQUAL_COLUMNS), "state"] as (keyof AuditFilter)[];

/** Refuses an invalid filter. @throws ServiceError INVALID_ARGUMENT */
export function checkFilter(filter: AuditFilter): void {
  for (const name of ["from", "to"] as const) {
    const time = filter[name];
    if (time === undefined || (Number.isSafeInteger(time) && time >= 0)) continue;
    throw invalid(`${name} must be a time in whole milliseconds since the epoch`);
  }
  if (filter.from !== undefined && filter.to !== undefined && filter.from > filter.to) {
    throw invalid("from is later than to");
  }
  for (const name of TEXTS) {
    const text: unknown = filter[name];
    if (text === undefined) continue;
    const values = VALUES[name];
    if (values !== undefined && !values.includes(text as string)) {
      throw invalid(`${name} is one of ${values.join(", ")}`);
    }
    // PostgreSQL takes no NUL.
    if (typeof text !== "string" || text.length > MAX_TEXT || text.includes("\0")) {
      throw invalid(`${name} is a text of at most ${MAX_TEXT} characters`);
    }
  }
}

/** A hash of the filter: a cursor is valid for the same filter only. */
export function filterHash(filter: AuditFilter): string {
  const fields = (["from", "to", ...TEXTS] as const).map((name) => filter[name]);
  return createHash("sha256").update(JSON.stringify(fields)).digest("base64url").slice(0, 22);
}

/** The refusal of a query. */
export function invalid(message: string): ServiceError {
  return new ServiceError("INVALID_ARGUMENT", message);
}

/** The stored events that match a filter, in no order. */
export function matching(database: Database<AuditTables>, filter: AuditFilter, now: number) {
  let query = database.kysely
    .selectFrom("audit_events")
    .select(["id", "time", "state", "expires", "event"]);
  if (filter.from !== undefined) query = query.where("time", ">=", filter.from);
  if (filter.to !== undefined) query = query.where("time", "<", filter.to);
  for (const [name, column] of Object.entries(EQUAL_COLUMNS)) {
    const value = filter[name as keyof typeof EQUAL_COLUMNS];
    // In the stored form: otherwise events about objects with unusual ids would not be found.
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

/** The stored event; only now is it known whether a pending one is still under way. */
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

/** @throws ServiceError UNAVAILABLE if the database does not answer */
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
