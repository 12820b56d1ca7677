/** For how long what a caller has used counts, in milliseconds. */
const WINDOW_MS = 60_000;

/** How many series of refusals a kind of callers may begin. */
export interface RefusalLimits {
  /** Open at the same time; each is a few KiB at the most. */
  readonly open: number;
  /** Begun by one caller in a minute. */
  readonly perCaller: number;
  /** Begun by all of them in a minute. */
  readonly perMinute: number;
}

interface Used {
  count: number;
  /** Of `performance.now()`. */
  readonly until: number;
}

/**
 * Who may begin a series of its own, by how many were begun in this minute. Each caller has its own
 * part, so that one of them uses up its part and not that of others. Each of the callers that are
 * remembered has begun a series, so `perMinute` bounds them too.
 */
export class RefusalBudget {
  readonly #limits: RefusalLimits;
  /** The oldest first. */
  readonly #callers = new Map<string, Used>();
  #all: Used = { count: 0, until: 0 };

  constructor(limits: RefusalLimits) {
    this.#limits = limits;
  }

  /** Whether a caller may begin one more, which then counts. */
  take(caller: string, now: number): boolean {
    const { perCaller, perMinute } = this.#limits;
    for (const [name, { until }] of this.#callers) {
      if (until > now) break;
      this.#callers.delete(name);
    }
    if (this.#all.until <= now) this.#all = { count: 0, until: now + WINDOW_MS };
    const used = this.#callers.get(caller) ?? { count: 0, until: now + WINDOW_MS };
    if (used.count >= perCaller || this.#all.count >= perMinute) return false;
    if (used.count++ === 0) this.#callers.set(caller, used);
    this.#all.count++;
    return true;
  }
}
