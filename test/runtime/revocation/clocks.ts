import type { Clocks } from "../../../src/common/observed-time.ts";

/** Clocks that stand still until a test moves them. */
export class TestClocks implements Clocks {
  /** Milliseconds since the epoch. */
  time = 1_800_000_000_000;
  /** Milliseconds that have passed. */
  passed = 5000;

  readonly now = (): number => this.time;
  readonly monotonic = (): number => this.passed;

  /** Time passes, and the clock shows it. */
  pass(milliseconds: number): void {
    this.passed += milliseconds;
    this.time += milliseconds;
  }

  /** The clock is set; no time passes. */
  jump(milliseconds: number): void {
    this.time += milliseconds;
  }
}

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;
