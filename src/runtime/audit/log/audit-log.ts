import type { Database } from "../../../database/database.ts";
import type { AuditEvent } from "../event/audit-event.ts";
import type { AuditTables } from "../tables/audit-table.ts";
import { visibleHead } from "../tables/change-order.ts";
import {
  type AuditFilter,
  answered,
  checkFilter,
  eventOf,
  filterHash,
  invalid,
  keyed,
  matching,
} from "./audit-filter.ts";
import { formatCursor, formatPosition, LAST, lastStored, parseCursor } from "./audit-position.ts";
import { ChangeWatch } from "./change-watch.ts";
import { type AuditExportOptions, exportEvents } from "./export-events.ts";
import { type AuditChange, type AuditFollowOptions, followEvents } from "./follow-events.ts";

/** Which page of a listing. */
export interface AuditPageRequest {
  /** The most events of the page: 1 to 500; 50 if absent. */
  readonly pageSize?: number;
  /** The `nextCursor` of the page before, of the same filter; absent for the first. */
  readonly cursor?: string;
}

/** A page of events, newest first. */
export interface AuditPage {
  /** Newest first, by the time at which calls began. */
  readonly events: readonly AuditEvent[];
  /** Asks for the next page; absent on the last one. */
  readonly nextCursor?: string;
}

/** The most events of a page. */
export const MAX_AUDIT_PAGE = 500;
const DEFAULT_PAGE = 50;
/** How often followers look for changes, in milliseconds. */
const POLL = 1000;

/** Reads the stored events, beside the service that stores them (docs/requirements.md, AUDIT-6). */
export interface AuditLog {
  /**
   * Lists the events that match, newest first.
   *
   * @throws ServiceError INVALID_ARGUMENT for a filter, page size or cursor that is
   * wrong; UNAVAILABLE if the database does not answer
   *
   * @example
   * ```ts
   * const { events, nextCursor } = await log.list({ decision: "denied" }, { pageSize: 20 });
   * for (const { time, type, data } of events) console.log(time, type, data.principal?.id);
   * if (nextCursor !== undefined) await log.list({ decision: "denied" }, { cursor: nextCursor });
   * ```
   */
  list(filter?: AuditFilter, page?: AuditPageRequest): Promise<AuditPage>;

  /**
   * All events that match and are stored when it begins, the oldest first; `auditLines` makes lines
   * of JSON of them.
   *
   * @throws ServiceError as `list` does
   *
   * @example
   * ```ts
   * for await (const line of auditLines(log.export({ riskLevel: "CRITICAL" }))) process.stdout.write(line);
   * ```
   */
  export(
    filter?: AuditFilter,
    options?: AuditExportOptions,
  ): AsyncGenerator<AuditEvent, void, undefined>;

  /**
   * Events as they are stored and completed, from now on or after a position, until the signal
   * aborts or the log is closed. Each position continues after its event: no event is missed, and
   * none is returned twice in the same state.
   *
   * @throws ServiceError as `list` does; continue from the last position
   *
   * @example
   * ```ts
   * let after = await log.position();
   * for await (const { event, position } of log.follow({}, { after, signal })) {
   *   console.log(event.type, event.data.state);
   *   after = position;
   * }
   * ```
   */
  follow(
    filter?: AuditFilter,
    options?: AuditFollowOptions,
  ): AsyncGenerator<AuditChange, void, undefined>;

  /**
   * The position after all events that are stored now, for `follow`.
   *
   * @throws ServiceError UNAVAILABLE if the database does not answer
   */
  position(): Promise<string>;

  /** Ends all followers. */
  close(): void;
}

/** The audit log in the database of a service. */
export class StoredAuditLog implements AuditLog {
  readonly #database: Database<AuditTables>;
  readonly #now: () => number;
  readonly #watch: ChangeWatch;

  constructor(database: Database<AuditTables>, now: () => number = Date.now, pollMs = POLL) {
    this.#database = database;
    this.#now = now;
    this.#watch = new ChangeWatch(() => visibleHead(database), pollMs);
  }

  async list(filter: AuditFilter = {}, page: AuditPageRequest = {}): Promise<AuditPage> {
    const { pageSize = DEFAULT_PAGE } = page;
    checkFilter(filter);
    if (!Number.isInteger(pageSize) || pageSize < 1 || pageSize > MAX_AUDIT_PAGE) {
      throw invalid(`a page has 1 to ${MAX_AUDIT_PAGE} events`);
    }
    const hash = filterHash(filter);
    const after = page.cursor === undefined ? undefined : parseCursor(hash, page.cursor);
    const now = this.#now();
    let query = matching(this.#database, filter, now)
      .orderBy("time", "desc")
      .orderBy("id", "desc")
      .limit(pageSize + 1);
    if (after !== undefined)
      query = query.where(keyed(["time", "id"], "<", [after.time, after.id]));
    const rows = await answered(this.#database, () => query.execute());
    const events = rows.slice(0, pageSize).map((row) => eventOf(row, now));
    const last = rows.length > pageSize ? rows[pageSize - 1] : undefined;
    if (last === undefined) return { events };
    const nextCursor = formatCursor(hash, { time: Number(last.time), id: last.id });
    return { events, nextCursor };
  }

  export(
    filter: AuditFilter = {},
    options: AuditExportOptions = {},
  ): AsyncGenerator<AuditEvent, void, undefined> {
    return exportEvents(this.#database, this.#now, filter, options);
  }

  follow(
    filter: AuditFilter = {},
    options: AuditFollowOptions = {},
  ): AsyncGenerator<AuditChange, void, undefined> {
    const context = { database: this.#database, now: this.#now, watch: this.#watch };
    return followEvents(context, filter, options);
  }

  async position(): Promise<string> {
    const change = await answered(this.#database, () => visibleHead(this.#database));
    const last = await answered(this.#database, () => lastStored(this.#database, change));
    return formatPosition({ change, id: LAST, expired: this.#now(), expiredId: LAST, last });
  }

  close(): void {
    this.#watch.close();
  }
}
