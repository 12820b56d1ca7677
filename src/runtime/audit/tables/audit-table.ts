import { type ColumnType, type Kysely, sql } from "kysely";
import type { DatabaseKind } from "../../../database/database.ts";
import type { MigrationSet } from "../../../database/service/migrate.ts";
import { COLUMN_TYPES } from "../../../database/tables.ts";
import type { AuditEvent } from "../event/audit-event.ts";

/** The tables of audit. */
export interface AuditTables {
  readonly audit_events: AuditRow & Changed;
  readonly audit_marks: MarkRow;
  readonly audit_clock: ClockRow;
}

/** When an event was stored or completed, in the order of `change-order.ts`. */
export interface Changed {
  readonly change: Whole;
}

/**
 * A mark of retention: the changes that were stored by then, and the latest time that it can have
 * been.
 */
export interface MarkRow extends Changed {
  /** Milliseconds since the epoch. */
  readonly latest: Whole;
}

/** The row with retention's state of time. */
export interface ClockRow {
  readonly singleton: Whole;
  /** What is added to the number of a transaction. */
  readonly shift: Whole;
  /** Counts the changes of `state`. */
  readonly version: Whole;
  /** JSON; empty before retention has begun. */
  readonly state: string;
}

/** An event: the columns that are searched, and the event itself. Absent values are empty. */
export interface AuditRow {
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly time: Whole;
  readonly state: "pending" | "completed";
  /**
   * The time from which a pending event is no longer under way, in milliseconds since the epoch.
   */
  readonly expires: Whole;
  readonly type: string;
  readonly rpc: string;
  readonly risk_level: string;
  readonly principal_type: string;
  readonly principal_id: string;
  readonly organization: string;
  readonly resource: string;
  readonly decision: string;
  readonly code: string;
  readonly request_id: string;
  readonly trace_id: string;
  /** The event as JSON. */
  readonly event: string;
}

/** A whole number; `pg` gives a bigint as a string. */
type Whole = ColumnType<number | string, number, number>;

/** A row as it is written. */
export type NewAuditRow = { readonly [Column in keyof AuditRow]: Written<AuditRow[Column]> };
type Written<Value> = Value extends Whole ? number : Value;

/** Makes the row of an event. */
export function rowOf(event: AuditEvent, time: number, expires: number): NewAuditRow {
  const { data } = event;
  return {
    id: event.id,
    time,
    state: data.state === "completed" ? "completed" : "pending",
    expires,
    type: event.type,
    rpc: data.rpc,
    risk_level: data.risk_level,
    principal_type: data.principal?.type ?? "",
    principal_id: data.principal?.id ?? "",
    organization: data.principal?.organization ?? "",
    resource: data.resource ?? "",
    decision: data.decision,
    code: data.code ?? "",
    request_id: data.request_id,
    trace_id: data.trace_id ?? "",
    event: JSON.stringify(event),
  };
}

/** The steps to the tables of this version. */
export const AUDIT_MIGRATIONS: MigrationSet = {
  component: "audit",
  steps: [createTable, addChanges],
  rights: {
    audit_events: ["select", "insert", "update"],
    audit_marks: ["select"],
    audit_clock: ["select", "update"],
  },
};

/** The same where events are kept for a time only. */
const RETENTION_MIGRATIONS: MigrationSet = {
  ...AUDIT_MIGRATIONS,
  rights: {
    ...AUDIT_MIGRATIONS.rights,
    audit_events: ["select", "insert", "update", "delete"],
    audit_marks: ["select", "insert", "update", "delete"],
  },
};

/** The steps and the rights of an audit that keeps events for this time; indefinitely if absent. */
export function auditMigrations(maxAgeMs: number | undefined): MigrationSet {
  return maxAgeMs === undefined ? AUDIT_MIGRATIONS : RETENTION_MIGRATIONS;
}

/** Each is followed by time and id, the order of all listings. */
const INDEXES: Readonly<Record<string, readonly (keyof AuditRow)[]>> = {
  time: [],
  type: ["type"],
  rpc: ["rpc"],
  principal: ["principal_id", "principal_type"],
  resource: ["resource"],
  decision: ["decision"],
  state: ["state"],
  request: ["request_id"],
};

// biome-ignore lint/suspicious/noExplicitAny: it makes the tables that a type would name
async function createTable(connection: Kysely<any>, kind: DatabaseKind): Promise<void> {
  const { text, whole } = COLUMN_TYPES[kind];
  const wholes: ReadonlySet<string> = new Set(["time", "expires"]);
  let table = connection.schema
    .createTable("audit_events")
    .addColumn("id", text, (column) => column.primaryKey());
  for (const column of AUDIT_COLUMNS.filter((name) => name !== "id")) {
    table = table.addColumn(column, wholes.has(column) ? whole : text, (of) => of.notNull());
  }
  await table.execute();
  for (const [name, columns] of Object.entries(INDEXES)) {
    await connection.schema
      .createIndex(`audit_events_${name}`)
      .on("audit_events")
      .columns([...columns, "time", "id"])
      .execute();
  }
}

/** All columns, in the order of the table. */
export const AUDIT_COLUMNS = [
  "id",
  "time",
  "state",
  "expires",
  "type",
  "rpc",
  "risk_level",
  "principal_type",
  "principal_id",
  "organization",
  "resource",
  "decision",
  "code",
  "request_id",
  "trace_id",
  "event",
] as const satisfies readonly (keyof AuditRow)[];

/**
 * Numbers the changes of events, for followers and for retention. Older events have the number 0:
 * only their time is known of their age.
 */
// biome-ignore lint/suspicious/noExplicitAny: it makes the tables that a type would name
async function addChanges(connection: Kysely<any>, kind: DatabaseKind): Promise<void> {
  const { schema } = connection;
  const { whole } = COLUMN_TYPES[kind];
  await schema
    .alterTable("audit_events")
    .addColumn("change", whole, (column) => column.notNull().defaultTo(0))
    .execute();
  await schema
    .createIndex("audit_events_change")
    .on("audit_events")
    .columns(["change", "id"])
    .execute();
  await schema
    .createTable("audit_marks")
    .addColumn("change", whole, (column) => column.primaryKey())
    .addColumn("latest", whole, (column) => column.notNull())
    .execute();
  await schema
    .createTable("audit_clock")
    .addColumn("singleton", "integer", (column) => column.primaryKey().check(sql`singleton = 1`))
    .addColumn("shift", whole, (column) => column.notNull())
    .addColumn("version", whole, (column) => column.notNull())
    .addColumn("state", "text", (column) => column.notNull())
    .execute();
  await connection
    .insertInto("audit_clock")
    .values({ singleton: 1, shift: 0, version: 0, state: "" })
    .execute();
}
