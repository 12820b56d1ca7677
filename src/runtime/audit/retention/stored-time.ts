import { sql } from "kysely";
import type { Database } from "../../../database/database.ts";
import type { AuditTables } from "../audit-table.ts";
import { visibleHead } from "../change-order.ts";
import { firstObserved, type ObservedTime, observe } from "./observed-time.ts";

/** The clocks of a process. */
export interface Clocks {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Milliseconds that pass while the process runs, whatever is done to its clock. */
  readonly monotonic: () => number;
}

export const SYSTEM_CLOCKS: Clocks = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
};

/** What is stored of the time. */
export interface TimeState extends ObservedTime {
  /** Up to which change events are only known by their time: they were stored before retention began. */
  readonly stampedTo: number;
}

/** The most time of running that one look counts: a database that was away for long brings no hour that nobody saw the clock in. */
const MOST_AT_ONCE = 300_000;
/** How often another replica may be faster. */
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

  /** Looks at the clock, stores what is known of the time by now, and gives it with what the clock shows. */
  async look(): Promise<{ readonly state: TimeState; readonly clock: number }> {
    for (let attempt = 1; ; attempt++) {
      const at = this.#clocks.monotonic();
      const { version, text, clock } = await this.#read();
      const state = text === "" ? await this.#first(clock) : this.#next(parse(text), at, clock);
      if (await this.#write(version, state)) {
        this.#last = { ran: state.ran, at };
        return { state, clock };
      }
      if (attempt === ATTEMPTS) throw new Error("the time of retention is stored by others");
    }
  }

  async #read() {
    const isServer = this.#database.kind === "postgres";
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

  /** Replicas run at the same time, so what each has seen is not added up. */
  #next(state: TimeState, at: number, clock: number): TimeState {
    const { ran, at: since } = this.#last ?? { ran: 0, at };
    const passed = Math.min(Math.max(at - since, 0), MOST_AT_ONCE);
    const total = this.#last === undefined ? state.ran : Math.max(state.ran, ran + passed);
    return { ...observe(state, total - state.ran, clock), stampedTo: state.stampedTo };
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
