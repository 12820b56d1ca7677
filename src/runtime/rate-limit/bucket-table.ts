import { randomBytes } from "node:crypto";

/** How many tokens a bucket gets a second, and how many it holds. */
export interface BucketRate {
  /** Tokens a second; at least 1. */
  readonly qps: number;
  /** The most tokens; a new bucket has as many. */
  readonly burst: number;
}

/** Parts of a token; with time in whole microseconds, `qps` parts flow in each, and nothing is rounded. */
const TOKEN = 1_000_000;

/** The time for buckets: whole microseconds of a monotonic clock. */
export function microseconds(): number {
  return Math.floor(performance.now() * 1000);
}

/**
 * A token bucket in whole numbers, exact over any idle time. It needs no timer: the refill is
 * computed on access.
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

  /** Takes a token; false if there is none, and then nothing is taken. */
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

  /** In how many microseconds from when it was last asked there is a token; 0 if there is one. */
  get microsecondsToToken(): number {
    return this.#level >= TOKEN ? 0 : Math.ceil((TOKEN - this.#level) / this.rate.qps);
  }

  /** In how many microseconds from when it was last asked it is full. */
  get microsecondsToFull(): number {
    return Math.ceil((this.rate.burst * TOKEN - this.#level) / this.rate.qps);
  }

  /** Continues with the current tokens of another bucket of the same rate. */
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
    // Compared before the multiplication: a long idle time would exceed exact integers.
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

/** How many buckets new callers share while there is no room for their own. */
const SHARED = 1024;

/** How often, in microseconds, all tables are searched for room once there is none. */
const RECLAIM_EVERY = 1_000_000;

/** How many buckets there may be, in all tables together. */
export class BucketBudget {
  #left: number;
  #reclaimAt = Number.NEGATIVE_INFINITY;
  readonly #tables: BucketTable[] = [];

  constructor(limit: number) {
    this.#left = limit;
  }

  add(table: BucketTable): void {
    this.#tables.push(table);
  }

  /** Takes room for a bucket; false if there is none. */
  take(now: number): boolean {
    // An unused table does not drop buckets by itself.
    if (this.#left <= 0 && now >= this.#reclaimAt) {
      this.#reclaimAt = now + RECLAIM_EVERY;
      for (const table of this.#tables) table.turn(now);
    }
    if (this.#left <= 0) return false;
    this.#left--;
    return true;
  }

  giveBack(count: number): void {
    this.#left += count;
  }
}

/**
 * The buckets of the callers of one RPC, in bounded memory. Only a bucket that is
 * full again is ever dropped, which loses nothing: a new one is full too. Those are
 * known without a check: what was not asked for while the table turned
 * over, which takes as long as filling an empty bucket, is full.
 *
 * If there is no room left, new callers share buckets by a secret hash. So a flood of names limits
 * other new callers, and never refills a bucket.
 */
export class BucketTable {
  readonly #rate: BucketRate;
  readonly #budget: BucketBudget;
  readonly #fillTime: number;
  readonly #seed = randomBytes(4).readUInt32LE();
  #recent = new Map<string, TokenBucket>();
  #older = new Map<string, TokenBucket>();
  #turnedAt: number;
  #shared: (TokenBucket | undefined)[] | undefined;
  /** When a shared bucket was last used. */
  #sharedAt = 0;

  constructor(rate: BucketRate, budget: BucketBudget, now: number) {
    this.#rate = rate;
    this.#budget = budget;
    this.#fillTime = fillTime(rate);
    this.#turnedAt = now;
    budget.add(this);
  }

  /** The bucket of a caller. */
  of(key: string, now: number): TokenBucket {
    if (now - this.#turnedAt >= this.#fillTime) this.turn(now);
    const recent = this.#recent.get(key);
    if (recent !== undefined) return recent;
    const older = this.#older.get(key);
    if (older !== undefined) {
      this.#older.delete(key);
      this.#recent.set(key, older);
      return older;
    }
    if (!this.#budget.take(now)) return this.#sharedOf(key, now);
    const bucket = new TokenBucket(this.#rate, now);
    const shared = this.#shared?.[this.#hash(key)];
    // A caller that leaves a shared bucket does not get a full one.
    if (shared !== undefined) bucket.continue(shared, now);
    this.#recent.set(key, bucket);
    return bucket;
  }

  /** Drops the buckets that must be full by now. */
  turn(now: number): void {
    const elapsed = now - this.#turnedAt;
    if (elapsed < this.#fillTime) return;
    this.#turnedAt = now;
    let dropped = this.#older.size;
    this.#older = this.#recent;
    this.#recent = new Map();
    if (elapsed >= 2 * this.#fillTime) {
      dropped += this.#older.size;
      this.#older = new Map();
    }
    this.#budget.giveBack(dropped);
    if (now - this.#sharedAt >= this.#fillTime) this.#shared = undefined;
  }

  #sharedOf(key: string, now: number): TokenBucket {
    this.#shared ??= [];
    this.#sharedAt = now;
    const index = this.#hash(key);
    this.#shared[index] ??= new TokenBucket(this.#rate, now);
    return this.#shared[index];
  }

  /** FNV-1a; seeded, so that nobody can choose whose bucket is shared. */
  #hash(key: string): number {
    let hash = 0x811c9dc5 ^ this.#seed;
    for (let index = 0; index < key.length; index++) {
      hash = Math.imul(hash ^ key.charCodeAt(index), 0x01000193);
    }
    return ((hash ^ (hash >>> 16)) >>> 0) % SHARED;
  }
}
