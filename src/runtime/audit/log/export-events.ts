import type { Database } from "../../../database/database.ts";
import type { AuditEvent } from "../event/audit-event.ts";
import type { AuditTables } from "../tables/audit-table.ts";
import {
  type AuditFilter,
  answered,
  checkFilter,
  eventOf,
  invalid,
  keyed,
  matching,
} from "./audit-filter.ts";

/** How events are exported. */
export interface AuditExportOptions {
  /** By the time at which calls began; the oldest first if absent. */
  readonly order?: "oldest" | "newest";
  /** Ends the export. */
  readonly signal?: AbortSignal;
}

const KEY = ["time", "id"] as const;
const PAGE = 500;

/**
 * All events that match and were stored when it began, a page in memory at a time. An event has its
 * state at the time its page is read; its position does not change, since it is ordered by the
 * begin of its call.
 */
export async function* exportEvents(
  database: Database<AuditTables>,
  now: () => number,
  filter: AuditFilter,
  { order = "oldest", signal }: AuditExportOptions,
): AsyncGenerator<AuditEvent, void, undefined> {
  checkFilter(filter);
  if (order !== "oldest" && order !== "newest") throw invalid("order must be oldest or newest");
  const isOver = () => signal?.aborted === true;
  const direction = order === "oldest" ? "asc" : "desc";
  const page = (by: "asc" | "desc", limit: number) =>
    matching(database, filter, now()).orderBy("time", by).orderBy("id", by).limit(limit);
  // Otherwise the export of a busy service would never end.
  const [newest] = await answered(database, () => page("desc", 1).execute());
  if (newest === undefined) return;
  let query = page(direction, PAGE).where(keyed(KEY, "<=", keyOf(newest)));
  while (!isOver()) {
    const rows = await answered(database, () => query.execute());
    const at = now();
    for (const row of rows) {
      if (isOver()) return;
      yield eventOf(row, at);
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < PAGE) return;
    query = page(direction, PAGE).where(keyed(KEY, "<=", keyOf(newest)));
    query = query.where(keyed(KEY, order === "oldest" ? ">" : "<", keyOf(last)));
  }
}

function keyOf({ time, id }: { time: number | string; id: string }): readonly [number, string] {
  return [Number(time), id];
}

/**
 * Events as lines of JSON (NDJSON), each with its line break. Errors of reading the events are
 * passed on.
 *
 * @example
 * ```ts
 * await pipeline(auditLines(log.export()), createWriteStream("events.ndjson"));
 * ```
 */
export async function* auditLines(
  events: AsyncIterable<AuditEvent> | Iterable<AuditEvent>,
): AsyncGenerator<string, void, undefined> {
  for await (const event of events) yield `${JSON.stringify(event)}\n`;
}
