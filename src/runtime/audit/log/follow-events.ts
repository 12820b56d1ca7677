import type { Database } from "../../../database/database.ts";
import type { AuditEvent } from "../event/audit-event.ts";
import type { AuditTables } from "../tables/audit-table.ts";
import { visibleHead } from "../tables/change-order.ts";
import {
  type AuditFilter,
  answered,
  checkFilter,
  eventOf,
  invalid,
  keyed,
  matching,
} from "./audit-filter.ts";
import {
  type AuditPosition,
  formatPosition,
  isRestored,
  LAST,
  lastStored,
  parsePosition,
  restored,
} from "./audit-position.ts";
import type { ChangeWatch } from "./change-watch.ts";

/** Where following begins. */
export interface AuditFollowOptions {
  /** The position of the last event that was handled; the events after it follow. */
  readonly after?: string;
  /** Without a position: from now on (`end`, if absent), or from the first event that is kept. */
  readonly from?: "start" | "end";
  /** Ends the following. */
  readonly signal?: AbortSignal;
}

/** An event that was stored, completed, or whose time was up. */
export interface AuditChange {
  /** The event as it is now. */
  readonly event: AuditEvent;
  /** Continues after this event, also in another process. */
  readonly position: string;
}

/** What following needs of the log. */
export interface FollowContext {
  readonly database: Database<AuditTables>;
  readonly now: () => number;
  readonly watch: ChangeWatch;
}

const PAGE = 500;
const CHANGE = ["change", "id"] as const;
const EXPIRY = ["expires", "id"] as const;

/**
 * Events in the order in which they became visible: those that are new, those that were completed,
 * and those that became unknown. By time alone the completion of a long call would be missed. A
 * write is returned as pending if it is read in between, and always with its outcome.
 */
export async function* followEvents(
  context: FollowContext,
  filter: AuditFilter,
  options: AuditFollowOptions,
): AsyncGenerator<AuditChange, void, undefined> {
  checkFilter(filter);
  const { signal } = options;
  const { database, watch } = context;
  const isOver = () => signal?.aborted === true;
  let at = await begin(context, options);
  while (!isOver()) {
    const now = Math.max(context.now(), at.expired);
    const head = await answered(database, () => visibleHead(database));
    if (head < at.change) throw restored();
    for (const read of [readExpired, readChanges]) {
      for (let hasMore = true; hasMore; ) {
        const page = await answered(database, () => read(context.database, filter, at, now, head));
        for (const { event, position } of page.changes) {
          if (isOver()) return;
          at = position;
          yield { event, position: formatPosition(position) };
        }
        at = page.at;
        hasMore = page.hasMore;
      }
    }
    const next = await answered(database, () => watch.next(head, signal));
    if (next === undefined) return;
  }
}

interface Page {
  readonly changes: readonly { readonly event: AuditEvent; readonly position: AuditPosition }[];
  /** Where the next page begins. */
  readonly at: AuditPosition;
  readonly hasMore: boolean;
}

async function begin(
  { database, now }: FollowContext,
  { after, from = "end" }: AuditFollowOptions,
): Promise<AuditPosition> {
  if (from !== "start" && from !== "end") throw invalid("from must be start or end");
  if (after === undefined && from === "start")
    return { change: -1, id: LAST, expired: 0, expiredId: "" };
  const change = await answered(database, () => visibleHead(database));
  if (after !== undefined) {
    const position = parsePosition(after);
    if (position.change > change) throw restored();
    if (await answered(database, () => isRestored(database, position))) throw restored();
    return position;
  }
  const last = await answered(database, () => lastStored(database, change));
  return { change, id: LAST, expired: now(), expiredId: LAST, last };
}

/**
 * Events that were returned as pending and whose time is up: only time shows this, not a change.
 */
async function readExpired(
  database: Database<AuditTables>,
  filter: AuditFilter,
  at: AuditPosition,
  now: number,
): Promise<Page> {
  const all = { ...at, expired: now, expiredId: LAST };
  if (filter.state === "pending" || filter.state === "completed") {
    return { changes: [], at: all, hasMore: false };
  }
  const rows = await matching(database, { ...filter, state: "unknown" }, now)
    .where(keyed(EXPIRY, ">", [at.expired, at.expiredId]))
    // Later events are returned as unknown through their change.
    .where(keyed(CHANGE, "<=", [at.change, at.id]))
    .orderBy("expires")
    .orderBy("id")
    .limit(PAGE)
    .execute();
  const changes = rows.map((row) => ({
    event: eventOf(row, now),
    position: { ...at, expired: Number(row.expires), expiredId: row.id },
  }));
  const last = changes.at(-1);
  const hasMore = rows.length === PAGE;
  return { changes, at: hasMore && last !== undefined ? last.position : all, hasMore };
}

async function readChanges(
  database: Database<AuditTables>,
  filter: AuditFilter,
  at: AuditPosition,
  now: number,
  head: number,
): Promise<Page> {
  // Events that were stored together share a change: there may be more of the current one.
  const isAll = head < at.change || (head === at.change && at.id === LAST);
  if (isAll) return { changes: [], at, hasMore: false };
  const rows = await matching(database, filter, now)
    .select("change")
    .where(keyed(CHANGE, ">", [at.change, at.id]))
    .where("change", "<=", head)
    .orderBy("change")
    .orderBy("id")
    .limit(PAGE)
    .execute();
  const changes = rows.map((row) => {
    const last = { change: Number(row.change), id: row.id };
    return { event: eventOf(row, now), position: { ...at, ...last, last } };
  });
  const last = changes.at(-1);
  const hasMore = rows.length === PAGE;
  const end = { ...at, change: head, id: LAST, last: last?.position.last ?? at.last };
  return { changes, at: hasMore && last !== undefined ? last.position : end, hasMore };
}
