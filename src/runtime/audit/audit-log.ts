import { type Selectable, sql } from "kysely";
import type { Database } from "../../database/database.ts";
import { ServiceError } from "../error/service-error.ts";
import { formatCursor, parseCursor } from "./audit-cursor.ts";
import type { AuditEvent, AuditState } from "./audit-event.ts";
import {
  type AuditFilter,
  checkFilter,
  EQUAL_COLUMNS,
  filterHash,
  invalid,
} from "./audit-filter.ts";
import type { AuditRow, AuditTables } from "./audit-table.ts";
import { safeText } from "./safe-text.ts";

/** Which page of a listing. */
export interface AuditPageRequest {
  /** From 1 to `MAX_AUDIT_PAGE`; 50 where absent. */
  readonly pageSize?: number;
  /** The cursor of the page before; absent for the first. */
  readonly cursor?: string;
}

/** A page of events, newest first. */
export interface AuditPage {
  readonly events: readonly AuditEvent[];
  /** Absent on the last page. */
  readonly nextCursor?: string;
}

/** The most events of a page. */
export const MAX_AUDIT_PAGE = 500;
const DEFAULT_PAGE = 50;

/** Reads the stored events. */
export class AuditLog {
  readonly #database: Database<AuditTables>;
  readonly #now: () => number;

  constructor(database: Database<AuditTables>, now: () => number = Date.now) {
    this.#database = database;
    this.#now = now;
  }

  /**
   * Lists the events that match, newest first.
   *
   * @throws ServiceError INVALID_ARGUMENT for a filter, page size or cursor that is
   * wrong; UNAVAILABLE where the database does not answer
   */
  async list(filter: AuditFilter = {}, page: AuditPageRequest = {}): Promise<AuditPage> {
    const { pageSize = DEFAULT_PAGE } = page;
    checkFilter(filter);
    if (!Number.isInteger(pageSize) || pageSize < 1 || pageSize > MAX_AUDIT_PAGE) {
      throw invalid(`a page has 1 to ${MAX_AUDIT_PAGE} events`);
    }
    const hash = filterHash(filter);
    const after = page.cursor === undefined ? undefined : parseCursor(hash, page.cursor);
    const now = this.#now();
    let query = this.#query(filter, now).limit(pageSize + 1);
    if (after !== undefined) {
      query = query.where(
        sql<boolean>`(${sql.ref("time")}, ${sql.ref("id")}) < (${after.time}, ${after.id})`,
      );
    }
    const rows = await this.#answered(() => query.execute());
    const events = rows.slice(0, pageSize).map((row) => eventOf(row, now));
    const last = rows.length > pageSize ? rows[pageSize - 1] : undefined;
    if (last === undefined) return { events };
    const nextCursor = formatCursor(hash, { time: Number(last.time), id: last.id });
    return { events, nextCursor };
  }

  #query(filter: AuditFilter, now: number) {
    let query = this.#database.kysely
      .selectFrom("audit_events")
      .select(["id", "time", "state", "expires", "event"])
      .orderBy("time", "desc")
      .orderBy("id", "desc");
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

  async #answered<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      throw new ServiceError("UNAVAILABLE", undefined, { cause: this.#database.explain(error) });
    }
  }
}

/** The stored event; whether a pending one is still under way is known only now. */
function eventOf(
  row: Pick<Selectable<AuditRow>, "state" | "expires" | "event">,
  now: number,
): AuditEvent {
  const event = JSON.parse(row.event) as AuditEvent;
  const isOver = row.state === "pending" && Number(row.expires) <= now;
  if (!isOver) return event;
  const state: AuditState = "unknown";
  return { ...event, data: { ...event.data, state } };
}
