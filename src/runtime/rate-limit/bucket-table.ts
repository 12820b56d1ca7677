import { randomBytes } from "node:crypto";
import { type BucketRate, fillTime, TokenBucket } from "./token-bucket.ts";

/** How many buckets newcomers share while there is no room for buckets of their own. */
const SHARED = 1024;

/** How often, in microseconds, room is looked for in all tables once there is none. */
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

  /** Takes room for a bucket; false where there is none. */
  take(now: number): boolean {
    // A table that nobody asks does not turn by itself.
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
 * known without being looked at: what was not asked for while the table turned
 * over, which takes as long as filling an empty bucket, is full.
 *
 * Where there is no room left, newcomers share buckets by a secret hash. So who
 * floods the table with names limits other newcomers, and never refills anybody.
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
  /** When a shared bucket was last asked. */
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
    // Who comes out of the shared ones is not given a full bucket for it.
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
