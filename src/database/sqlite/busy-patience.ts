import { setTimeout as sleep } from "node:timers/promises";

/** How long a statement waits for another program's lock, in milliseconds: less than any call may take. */
export const BUSY_LIMIT_MS = 1500;
const FIRST_PAUSE_MS = 5;
const LONGEST_PAUSE_MS = 50;
const SQLITE_BUSY = 5;

/**
 * Waits for the lock of another program without keeping the process: SQLite's own wait would
 * stop everything else. All statements of a connection share the time: where it is up, those that come
 * later fail at once, until the lock is free again.
 */
export class BusyPatience {
  /** When the lock was found first, and last; undefined if it is free. */
  #busy: { readonly since: number; last: number } | undefined;

  /**
   * Does work that left nothing behind where it found the file locked; again until it does not.
   *
   * @param isWrite whether what came of it shows that the lock is free: it may be read all the time
   */
  async run<Result>(
    work: () => Result | Promise<Result>,
    isWrite: (result: Result) => boolean = () => true,
  ): Promise<Result> {
    let since: number | undefined;
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
      try {
        const result = await work();
        if (this.#busy !== undefined && isWrite(result)) this.#busy = undefined;
        return result;
      } catch (error) {
        if (!isBusy(error)) throw error;
        since ??= performance.now();
        if (!this.#waits() || performance.now() - since >= BUSY_LIMIT_MS) throw error;
      }
      await sleep(pause);
    }
  }

  #waits(): boolean {
    const now = performance.now();
    // What was not asked for a while may be another lock.
    if (this.#busy === undefined || now - this.#busy.last > BUSY_LIMIT_MS) {
      this.#busy = { since: now, last: now };
    }
    this.#busy.last = now;
    return now - this.#busy.since < BUSY_LIMIT_MS;
  }
}

/** Whether another program has the file locked, so that a second attempt may succeed. */
export function isBusy(error: unknown): boolean {
  const { errcode, cause } = (error ?? {}) as { errcode?: number; cause?: unknown };
  // Its extended codes, such as of a snapshot that is too old, mean that the transaction must begin again.
  return errcode === SQLITE_BUSY || (cause !== undefined && isBusy(cause));
}
