import type { Job } from "svc-access/runtime";

/** How far the clocks of replicas may be apart, in milliseconds. */
export const CLOCKS_APART_MS = 60_000;

/** The clocks of this process. */
export interface ProcessClocks {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Milliseconds that have passed, whatever happens to the other one. */
  readonly monotonic: () => number;
}

/**
 * Compares the clock of this process with that of the database, which all replicas share. Between two
 * readings of the database it counts on, so that a jump is known at once.
 */
export class DatabaseClock {
  readonly #clocks: ProcessClocks;
  /** What the database's clock would show at the zero of the monotonic clock. */
  #zero: number | undefined;

  constructor(
    clocks: ProcessClocks = { now: () => Date.now(), monotonic: () => performance.now() },
  ) {
    this.#clocks = clocks;
  }

  /** Says what the clock of the database shows now; undefined where it has none of its own. */
  observe(databaseTime: number | undefined): void {
    if (databaseTime !== undefined) this.#zero = databaseTime - this.#clocks.monotonic();
  }

  /**
   * What is wrong with the clock of this process; undefined if nothing. Tokens that are issued or checked by
   * a wrong clock could count for too long.
   */
  get problem(): string | undefined {
    if (this.#zero === undefined) return undefined;
    const ahead = this.#clocks.now() - (this.#zero + this.#clocks.monotonic());
    if (Math.abs(ahead) <= CLOCKS_APART_MS) return undefined;
    const seconds = Math.round(Math.abs(ahead) / 1000);
    return `the clock of this process is ${seconds} s ${ahead > 0 ? "ahead of" : "behind"} that of the database`;
  }
}

/** Jobs that delete what is too old, or replace it: they wait while the clock of this process is wrong. */
export function clockedJobs(
  jobs: readonly Job[],
  clock: Pick<DatabaseClock, "problem">,
): readonly Job[] {
  return jobs.map((job) => ({
    ...job,
    run: (signal) => (clock.problem === undefined ? job.run(signal) : undefined),
  }));
}
