import { sql } from "kysely";
import {
  BELIEVED_AFTER_HOURS,
  type Clocks,
  latest,
  type ObservedTime,
  observe,
} from "../../../common/observed-time.ts";
import { type Database, IS_SHARED } from "../../../database/database.ts";
import type { AuditTables } from "../tables/audit-table.ts";
import { visibleHead } from "../tables/change-order.ts";

/** The state after the first look at the clock; `stored` is the time of the newest event. */
function firstObserved(clock: number, stored: number | undefined): ObservedTime {
  return { ran: 0, hours: [[0, Math.min(clock, stored ?? clock), clock]] };
}

/**
 * The stored state of time (`common/observed-time.ts`). An event is removed when the earliest
 * time of now is past the latest time at which it was stored by as much as it is kept. So nothing is
 * removed early unless the clock was wrong through 24 hours of running, all of them. `earliest`
 * moves on after a jump as it must for a service that really was switched off.
 */
export interface TimeState extends ObservedTime {
  /** Up to which change events are only known by their time: they were stored before retention began. */
  readonly stampedTo: number;
  /** The marks of the last two days of running, the oldest first; absent in an older state. */
  readonly marks?: readonly TimeMark[];
}

/** The last change that was stored when the service had run this long, in milliseconds. */
export type TimeMark = readonly [change: number, ran: number];

const HOUR = 3_600_000;
/** The running time from one mark to the next: events are kept longer by as much. */
const MARK_EVERY = HOUR;
/** The running time after which the clock was right at least once. */
const CERTAIN_AFTER = BELIEVED_AFTER_HOURS * HOUR;
/**
 * For how much running time a mark can still become earlier: until a clock that was ahead when it
 * became certain has shown the right time for a day.
 */
const FINAL_AFTER = 2 * CERTAIN_AFTER + 2 * HOUR;

/**
 * The latest time at which the changes up to a mark can have been stored; undefined while the clock
 * could have been behind ever since, as after a start on a machine without a clock of its own. From a
 * day of running on, the clock was right at some moment after the mark, and the time between that
 * moment and the mark is at least the running time between them.
 */
export function latestOf(state: TimeState, [, ran]: TimeMark): number | undefined {
  if (state.ran - ran < CERTAIN_AFTER) return undefined;
  return latest(state) - (state.ran - ran);
}

/** Adds the mark of this moment if one is due, and drops those that are final. */
async function marksOf(
  { marks = [] }: TimeState,
  ran: number,
  head: () => Promise<number>,
): Promise<readonly TimeMark[]> {
  const open = marks.filter(([, of]) => ran - of < FINAL_AFTER);
  const last = marks.at(-1);
  if (last !== undefined && ran - last[1] < MARK_EVERY) return open;
  const change = await head();
  return last?.[0] === change ? open : [...open, [change, ran]];
}

/**
 * The most running time that one look counts: after a long outage of the database, hours without a
 * look at the clock do not count.
 */
const MOST_AT_ONCE = 300_000;
/** How often another replica may write first. */
const ATTEMPTS = 5;

/**
 * The observed time of a service, kept in its database and shared by its replicas. In PostgreSQL
 * the clock is that of the server, so that a replica with a wrong clock does no harm.
 */
export class StoredTime {
  readonly #database: Database<AuditTables>;
  readonly #clocks: Clocks;
  /** What was stored when this process last looked, and when that was on its monotonic clock. */
  #last: { readonly ran: number; readonly at: number } | undefined;

  constructor(database: Database<AuditTables>, clocks: Clocks) {
    this.#database = database;
    this.#clocks = clocks;
  }

  /** Reads the clock, stores the new state of time, and returns it with the time of the clock. */
  async look(): Promise<{ readonly state: TimeState; readonly clock: number }> {
    for (let attempt = 1; ; attempt++) {
      const at = this.#clocks.monotonic();
      const { version, text, clock } = await this.#read();
      const state =
        text === "" ? await this.#first(clock) : await this.#next(parse(text), at, clock);
      if (await this.#write(version, state)) {
        this.#last = { ran: state.ran, at };
        return { state, clock };
      }
      if (attempt === ATTEMPTS)
        throw new Error("other processes keep changing the time of retention");
    }
  }

  async #read() {
    const isServer = IS_SHARED[this.#database.kind];
    const row = await this.#database.kysely
      .selectFrom("audit_clock")
      .select(["version", "state"])
      .$if(isServer, (query) =>
        query.select(
          sql<string>`floor(extract(epoch from clock_timestamp()) * 1000)::bigint`.as("clock"),
        ),
      )
      .executeTakeFirstOrThrow();
    const clock = isServer ? Number(row.clock) : this.#clocks.now();
    return { version: Number(row.version), text: row.state, clock };
  }

  async #first(clock: number): Promise<TimeState> {
    const { time } = await this.#database.kysely
      .selectFrom("audit_events")
      .select((eb) => eb.fn.max("time").as("time"))
      .executeTakeFirstOrThrow();
    const stampedTo = await visibleHead(this.#database);
    const stored = time === null || time === undefined ? undefined : Number(time);
    return { ...firstObserved(clock, stored), stampedTo };
  }

  /** Replicas run at the same time, so their running times are not added up. */
  async #next(state: TimeState, at: number, clock: number): Promise<TimeState> {
    const { ran, at: since } = this.#last ?? { ran: 0, at };
    const passed = Math.min(Math.max(at - since, 0), MOST_AT_ONCE);
    const total = this.#last === undefined ? state.ran : Math.max(state.ran, ran + passed);
    const marks = await marksOf(state, total, () => visibleHead(this.#database));
    return { ...observe(state, total - state.ran, clock), stampedTo: state.stampedTo, marks };
  }

  async #write(version: number, state: TimeState): Promise<boolean> {
    const result = await this.#database.kysely
      .updateTable("audit_clock")
      .set({ version: version + 1, state: JSON.stringify(state) })
      .where("version", "=", version)
      .executeTakeFirst();
    return Number(result.numUpdatedRows) === 1;
  }
}

function parse(text: string): TimeState {
  return JSON.parse(text) as TimeState;
}
