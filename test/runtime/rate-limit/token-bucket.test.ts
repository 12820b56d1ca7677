import fc from "fast-check";
import { expect, test } from "vitest";
import {
  fillTime,
  microseconds,
  TokenBucket,
} from "../../../src/runtime/rate-limit/bucket-table.ts";

/** A bucket in rational numbers: tokens in millionths, of any size. */
class Oracle {
  readonly #qps: bigint;
  readonly #full: bigint;
  #level: bigint;
  #at: bigint;

  constructor(qps: number, burst: number, now: number) {
    this.#qps = BigInt(qps);
    this.#full = BigInt(burst) * 1_000_000n;
    this.#level = this.#full;
    this.#at = BigInt(now);
  }

  take(now: number): boolean {
    const elapsed = BigInt(now) - this.#at;
    if (elapsed > 0n) {
      this.#at = BigInt(now);
      this.#level += elapsed * this.#qps;
      if (this.#level > this.#full) this.#level = this.#full;
    }
    if (this.#level < 1_000_000n) return false;
    this.#level -= 1_000_000n;
    return true;
  }

  get tokens(): number {
    return Number(this.#level / 1_000_000n);
  }

  get toToken(): number {
    const missing = 1_000_000n - this.#level;
    return missing <= 0n ? 0 : Number((missing + this.#qps - 1n) / this.#qps);
  }

  get toFull(): number {
    return Number((this.#full - this.#level + this.#qps - 1n) / this.#qps);
  }
}

const MAX_INT32 = 2_147_483_647;
const DECADE = 10 * 365 * 24 * 3600 * 1_000_000;

test("is exact for any rate, idle times and jumps of the clock [RATE-1]", () => {
  const step = fc.oneof(
    fc.constant(0),
    fc.integer({ min: 0, max: 3_000_000 }),
    fc.integer({ min: -5_000_000, max: 0 }),
    fc.integer({ min: 0, max: DECADE }),
  );
  const rate = fc
    .tuple(
      fc.oneof(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: MAX_INT32 })),
      fc.oneof(fc.integer({ min: 0, max: 10 }), fc.integer({ min: 0, max: MAX_INT32 })),
    )
    .map(([qps, more]) => ({ qps, burst: Math.min(MAX_INT32, qps + more) }));
  fc.assert(
    fc.property(rate, fc.array(step, { maxLength: 200 }), ({ qps, burst }, steps) => {
      let now = 1_000_000;
      const bucket = new TokenBucket({ qps, burst }, now);
      const oracle = new Oracle(qps, burst, now);
      for (const elapsed of steps) {
        now += elapsed;
        expect(bucket.take(now)).toBe(oracle.take(now));
        expect(bucket.tokens).toBe(oracle.tokens);
        expect(bucket.microsecondsToToken).toBe(oracle.toToken);
        expect(bucket.microsecondsToFull).toBe(oracle.toFull);
      }
    }),
    { numRuns: 500 },
  );
});

test("allows the burst, then exactly the rate, for a long time [RATE-1]", () => {
  const bucket = new TokenBucket({ qps: 3, burst: 5 }, 0);
  let taken = 0;
  // A thousand seconds in steps that do not divide the interval of tokens.
  for (let now = 0; now <= 1_000_000_000; now += 7_777) if (bucket.take(now)) taken++;
  expect(taken).toBe(5 + 3 * 1000 - 1);
});

test("returns the exact time of the next token", () => {
  const bucket = new TokenBucket({ qps: 7, burst: 7 }, 0);
  for (let count = 0; count < 7; count++) expect(bucket.take(0)).toBe(true);
  expect(bucket.take(0)).toBe(false);
  const wait = bucket.microsecondsToToken;
  expect(bucket.take(wait - 1)).toBe(false);
  expect(bucket.take(wait)).toBe(true);
});

test("a clock that is set back gives no token twice", () => {
  const bucket = new TokenBucket({ qps: 1, burst: 1 }, 0);
  expect(bucket.take(0)).toBe(true);
  expect(bucket.take(1_000_000)).toBe(true);
  expect(bucket.take(0)).toBe(false);
  expect(bucket.take(1_000_000)).toBe(false);
  expect(bucket.take(2_000_000)).toBe(true);
});

test("uses whole microseconds of the process", () => {
  const before = performance.now();
  const now = microseconds();
  const after = performance.now();
  expect(Number.isInteger(now)).toBe(true);
  expect(now).toBeGreaterThanOrEqual(Math.floor(before * 1000));
  expect(now).toBeLessThanOrEqual(after * 1000);
});

test("continues with the current tokens of another bucket", () => {
  const rate = { qps: 1, burst: 3 };
  const other = new TokenBucket(rate, 0);
  for (let count = 0; count < 3; count++) other.take(0);
  const bucket = new TokenBucket(rate, 0);
  bucket.continue(other, 1_500_000);
  expect([bucket.tokens, bucket.microsecondsToToken]).toEqual([1, 0]);
  expect([bucket.take(1_500_000), bucket.take(1_999_999), bucket.take(2_000_000)]).toEqual([
    true,
    false,
    true,
  ]);
});

test.each([
  [1, 1, 1_000_000],
  [10, 20, 2_000_000],
  [3, 10, 3_333_334],
])("fills at %i a second up to %i in %i µs", (qps, burst, expected) => {
  expect(fillTime({ qps, burst })).toBe(expected);
});
