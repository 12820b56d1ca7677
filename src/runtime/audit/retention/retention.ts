import type { Expression, ExpressionBuilder, SqlBool } from "kysely";
import type { Logger } from "../../../common/logger.ts";
import {
  BELIEVED_AFTER_HOURS,
  type Clocks,
  earliest,
  latest,
  SYSTEM_CLOCKS,
} from "../../../common/observed-time.ts";
import { type Database, IS_SHARED } from "../../../database/database.ts";
import { briefError } from "../../logging/redaction/brief-error.ts";
import type { AuditTables } from "../tables/audit-table.ts";
import { latestOf, StoredTime, type TimeState } from "./retention-clock.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** Few enough that no call waits long for the statement. */
const BATCH = 500;

/** Further options of retention. */
export interface RetentionOptions {
  readonly clocks?: Clocks;
  /** Called with how far the clock is ahead of the certain time, in milliseconds. */
  readonly onAhead?: (ms: number) => void;
}

/** Removes the events with an earlier time, until the signal aborts. @returns how many */
export function removeBefore(
  database: Database<AuditTables>,
  time: number,
  signal?: AbortSignal,
): Promise<number> {
  return removeWhere(database, "time", (eb) => eb("time", "<", time), signal);
}

async function removeWhere(
  { kysely }: Database<AuditTables>,
  order: "time" | "change",
  which: (eb: ExpressionBuilder<AuditTables, "audit_events">) => Expression<SqlBool>,
  signal: AbortSignal | undefined,
): Promise<number> {
  let removed = 0;
  while (signal?.aborted !== true) {
    const old = kysely
      .selectFrom("audit_events")
      .select("id")
      .where(which)
      .orderBy(order)
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
 * Removes events of more than an age, now and every hour. Their age is the measured time since they
 * were stored, not the time of any clock (`retention-clock.ts`).
 *
 * @returns a function that ends it, and waits for work under way
 */
export function keepFor(
  maxAgeMs: number,
  database: Database<AuditTables>,
  logger: Logger,
  options: RetentionOptions = {},
): () => Promise<void> {
  const retention = new Retention(maxAgeMs, database, logger, options);
  let work: Promise<void> | undefined;
  const begin = () => {
    work ??= retention.run().finally(() => {
      work = undefined;
    });
  };
  begin();
  const timer = setInterval(begin, MINUTE);
  timer.unref();
  return async () => {
    clearInterval(timer);
    retention.end();
    await work;
  };
}

/** The removal of old events, in steps of one look at the clock. */
export class Retention {
  readonly #maxAgeMs: number;
  readonly #database: Database<AuditTables>;
  readonly #logger: Logger;
  readonly #onAhead: (ms: number) => void;
  readonly #clocks: Clocks;
  readonly #time: StoredTime;
  readonly #end = new AbortController();
  #removedAt = Number.NEGATIVE_INFINITY;
  #warned: "ahead" | "behind" | undefined;

  constructor(
    maxAgeMs: number,
    database: Database<AuditTables>,
    logger: Logger,
    { clocks = SYSTEM_CLOCKS, onAhead = () => undefined }: RetentionOptions,
  ) {
    this.#maxAgeMs = maxAgeMs;
    this.#database = database;
    this.#logger = logger;
    this.#onAhead = onAhead;
    this.#clocks = clocks;
    this.#time = new StoredTime(database, clocks);
  }

  end(): void {
    this.#end.abort();
  }

  /** Looks at the clock, and once an hour removes old events. Does not reject. */
  async run(): Promise<void> {
    try {
      const { state, clock } = await this.#time.look();
      const ahead = clock - earliest(state);
      this.#onAhead(ahead);
      // At the very first look there is nothing to compare the clock with.
      if (state.ran > 0) this.#warn(ahead, latest(state) - clock);
      const now = this.#clocks.monotonic();
      if (now - this.#removedAt < HOUR) return;
      this.#removedAt = now;
      await storeMarks(this.#database, state);
      const removed = await this.#remove(earliest(state) - this.#maxAgeMs, state.stampedTo);
      if (removed > 0) this.#logger.info({ removed }, "old audit events were removed");
    } catch (error) {
      this.#logger.warn(
        { error: briefError(this.#database.explain(error)) },
        "old audit events could not be removed",
      );
    }
  }

  async #remove(before: number, stampedTo: number): Promise<number> {
    const { signal } = this.#end;
    const stamped = await removeWhere(
      this.#database,
      "time",
      (eb) => eb.and([eb("time", "<", before), eb("change", "<=", stampedTo)]),
      signal,
    );
    const last = await storedBefore(this.#database, before);
    if (last === undefined || signal.aborted) return stamped;
    const stored = await removeWhere(
      this.#database,
      "change",
      (eb) => eb.and([eb("change", ">", stampedTo), eb("change", "<=", last)]),
      signal,
    );
    if (!signal.aborted) await forgetMarks(this.#database, last);
    return stamped + stored;
  }

  /** Once for each jump of the clock by a day or more: smaller ones do not matter. */
  #warn(ahead: number, behind: number): void {
    const found = ahead >= DAY ? "ahead" : behind >= DAY ? "behind" : undefined;
    if (found === this.#warned) return;
    this.#warned = found;
    if (found === undefined) return;
    const days = Math.round((found === "ahead" ? ahead : behind) / DAY);
    const clock = IS_SHARED[this.#database.kind] ? "the database's clock" : "the clock";
    this.#logger.warn(
      { days },
      found === "ahead"
        ? `${clock} is ${days} days ahead of the time that this service has measured. No audit event is removed because of it until the clock has stayed ahead for ${BELIEVED_AFTER_HOURS} hours of running time. If it is wrong, correct it (NTP) before then; if the service was switched off for as long, no action is needed`
        : `${clock} went back by ${days} days. If it was ahead and has been corrected, no action is needed; if it is wrong now, correct it (NTP). Audit events are kept longer until then`,
    );
  }
}

/** The time of a mark whose time is not certain yet: it only keeps the count of changes. */
const NEVER = Number.MAX_SAFE_INTEGER;

/** Stores the marks of a state. A mark may become earlier, not later: each of its times is a bound. */
async function storeMarks({ kysely }: Database<AuditTables>, state: TimeState): Promise<void> {
  const { marks = [] } = state;
  if (marks.length === 0) return;
  const rows = marks.map((mark) => ({
    change: mark[0],
    latest: latestOf(state, mark) ?? NEVER,
  }));
  await kysely
    .insertInto("audit_marks")
    .values(rows)
    .onConflict((conflict) =>
      conflict
        .column("change")
        .doUpdateSet((eb) => ({ latest: eb.ref("excluded.latest") }))
        .whereRef("audit_marks.latest", ">", "excluded.latest"),
    )
    .execute();
}

/** The last change up to which everything was stored before a time; undefined if there is none. */
async function storedBefore(
  { kysely }: Database<AuditTables>,
  time: number,
): Promise<number | undefined> {
  const { change } = await kysely
    .selectFrom("audit_marks")
    .select((eb) => eb.fn.max("change").as("change"))
    .where("latest", "<=", time)
    .executeTakeFirstOrThrow();
  return change === null || change === undefined ? undefined : Number(change);
}

/** Removes the marks before one. That one stays: changes are counted on from the last mark where no event is left. */
async function forgetMarks({ kysely }: Database<AuditTables>, change: number): Promise<void> {
  await kysely.deleteFrom("audit_marks").where("change", "<", change).execute();
}
