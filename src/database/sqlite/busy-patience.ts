import { setTimeout as sleep } from "node:timers/promises";

/** The time that a statement waits for another program's lock, in milliseconds: less than the time limit of calls. */
const BUSY_LIMIT_MS = 1500;
const FIRST_PAUSE_MS = 5;
const LONGEST_PAUSE_MS = 50;
const SQLITE_BUSY = 5;

/**
 * Waits for the lock of another program without blocking the process, which SQLite's own wait would
 * do. All statements of a connection share the time limit: after it, later statements fail at once,
 * until the lock is free again.
 */
export class BusyPatience {
  /** The times at which the lock was first and last found; undefined if it is free. */
  #busy: { readonly since: number; last: number } | undefined;

  /**
   * Runs work again until the file is not locked. Work that finds a lock must have no effect.
   *
   * @param isWrite - whether the result shows that the lock is free, which a read does not
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
    // After a while without statements, it may be another lock.
    if (this.#busy === undefined || now - this.#busy.last > BUSY_LIMIT_MS) {
      this.#busy = { since: now, last: now };
    }
    this.#busy.last = now;
    return now - this.#busy.since < BUSY_LIMIT_MS;
  }
}

/** Whether another program has locked the file, so that a second attempt may succeed. */
export function isBusy(error: unknown): boolean {
  const { errcode, cause } = (error ?? {}) as { errcode?: number; cause?: unknown };
  // Extended codes, such as that of an outdated snapshot, mean that the transaction must start again.
  return errcode === SQLITE_BUSY || (cause !== undefined && isBusy(cause));
}
