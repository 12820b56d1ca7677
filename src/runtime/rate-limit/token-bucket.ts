/** How many tokens a bucket gets a second, and how many it holds. */
export interface BucketRate {
  /** Tokens a second; at least 1. */
  readonly qps: number;
  /** The most tokens; a new bucket has as many. */
  readonly burst: number;
}

/** Parts of a token; with time in whole microseconds, `qps` parts flow in each, and nothing is ever rounded. */
const TOKEN = 1_000_000;

/** The time that buckets are asked at: whole microseconds of a clock that never goes back. */
export function microseconds(): number {
  return Math.floor(performance.now() * 1000);
}

/**
 * A token bucket in whole numbers, exact over any idle time. It keeps no timer:
 * what has flowed in is worked out when it is asked.
 *
 * @example
 * const bucket = new TokenBucket({ qps: 10, burst: 20 }, microseconds());
 * if (!bucket.take(microseconds())) wait(bucket.microsecondsToToken());
 */
export class TokenBucket {
  readonly rate: BucketRate;
  /** Parts of tokens, at `#at`. */
  #level: number;
  #at: number;

  constructor(rate: BucketRate, now: number) {
    this.rate = rate;
    this.#level = rate.burst * TOKEN;
    this.#at = now;
  }

  /** Takes a token; false where there is none, and then nothing is taken. */
  take(now: number): boolean {
    this.#flow(now);
    if (this.#level < TOKEN) return false;
    this.#level -= TOKEN;
    return true;
  }

  /** The whole tokens that there were when it was last asked. */
  get tokens(): number {
    return Math.floor(this.#level / TOKEN);
  }

  /** In how many microseconds from when it was last asked there is a token; 0 where there is one. */
  get microsecondsToToken(): number {
    return this.#level >= TOKEN ? 0 : Math.ceil((TOKEN - this.#level) / this.rate.qps);
  }

  /** In how many microseconds from when it was last asked it is full. */
  get microsecondsToFull(): number {
    return Math.ceil((this.rate.burst * TOKEN - this.#level) / this.rate.qps);
  }

  /** Goes on with what another bucket of the same rate has left now. */
  continue(other: TokenBucket, now: number): void {
    other.#flow(now);
    this.#level = other.#level;
    this.#at = now;
  }

  #flow(now: number): void {
    const elapsed = now - this.#at;
    // A clock that went back gives nothing, and what it gave before is not given again.
    if (elapsed <= 0) return;
    this.#at = now;
    // Compared before it is multiplied: a long idle time would leave the whole numbers that are exact.
    this.#level =
      elapsed >= this.microsecondsToFull
        ? this.rate.burst * TOKEN
        : this.#level + elapsed * this.rate.qps;
  }
}

/** In how many microseconds an empty bucket is full. */
export function fillTime({ qps, burst }: BucketRate): number {
  return Math.ceil((burst * TOKEN) / qps);
}
