import type { Clocks } from "../../common/observed-time.ts";

/**
 * How far the clock of this process may differ from that of the feed, in milliseconds: the clocks of IAM may
 * be apart by a minute, responses take a moment, and verifiers accept tokens for a skew of their own.
 */
export const MOST_APART_MS = 120_000;

/**
 * Compares the clock of this process with that of a feed. Between two responses it counts on, so that a
 * jump is known at once.
 */
export class FeedClock {
  readonly #clocks: Clocks;
  /** What the feed's clock would show at the zero of the monotonic clock. */
  #zero: number | undefined;

  constructor(clocks: Clocks) {
    this.#clocks = clocks;
  }

  /** The clock of the feed shows this time now, in milliseconds since the epoch. */
  observe(time: number): void {
    this.#zero = time - this.#clocks.monotonic();
  }

  /** By how much the clock of this process is ahead of that of the feed; 0 before it is known. */
  get aheadMs(): number {
    if (this.#zero === undefined) return 0;
    return this.#clocks.now() - (this.#zero + this.#clocks.monotonic());
  }

  /** Whether they are too far apart: by a clock that is behind, expired tokens seem to be valid. */
  get isApart(): boolean {
    return Math.abs(this.aheadMs) > MOST_APART_MS;
  }
}
