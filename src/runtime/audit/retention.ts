import type { Database } from "../../database/database.ts";
import type { Logger } from "../operation/logger.ts";
import type { AuditTables } from "./audit-table.ts";

const HOUR = 3_600_000;
/** Few enough that no call waits long for the statement. */
const BATCH = 500;

/** Removes the events of before a time, until the signal aborts. @returns how many */
export async function removeBefore(
  { kysely }: Database<AuditTables>,
  time: number,
  signal?: AbortSignal,
): Promise<number> {
  let removed = 0;
  while (signal?.aborted !== true) {
    const old = kysely
      .selectFrom("audit_events")
      .select("id")
      .where("time", "<", time)
      .orderBy("time")
      .limit(BATCH);
    const [result] = await kysely.deleteFrom("audit_events").where("id", "in", old).execute();
    const count = Number(result?.numDeletedRows ?? 0);
    removed += count;
    if (count < BATCH) return removed;
    await new Promise(setImmediate);
  }
  return removed;
}

/**
 * Removes events of more than an age, now and every hour.
 *
 * @returns what ends it, and waits for what is under way
 */
export function keepFor(
  maxAgeMs: number,
  database: Database<AuditTables>,
  logger: Logger,
): () => Promise<void> {
  const end = new AbortController();
  const remove = async () => {
    try {
      const removed = await removeBefore(database, Date.now() - maxAgeMs, end.signal);
      if (removed > 0) logger.info({ removed }, "old audit events were removed");
    } catch (error) {
      logger.warn({ err: database.explain(error) }, "old audit events could not be removed");
    }
  };
  let removal: Promise<void> | undefined;
  const begin = () => {
    removal ??= remove().finally(() => {
      removal = undefined;
    });
  };
  begin();
  const timer = setInterval(begin, HOUR);
  timer.unref();
  return async () => {
    clearInterval(timer);
    end.abort();
    await removal;
  };
}
