/** After how many polls without a change a waiter checks for events that only time changes. */
const IDLE_POLLS = 10;

interface Waiter {
  readonly after: number;
  polls: number;
  readonly settle: (head: number | undefined, error?: unknown) => void;
}

/**
 * Waits for changes on behalf of all followers of a log: one query per interval, and none while
 * nobody waits.
 */
export class ChangeWatch {
  readonly #head: () => Promise<number>;
  readonly #intervalMs: number;
  readonly #waiters = new Set<Waiter>();
  #timer: NodeJS.Timeout | undefined;
  #isPolling = false;
  #isClosed = false;

  constructor(head: () => Promise<number>, intervalMs: number) {
    this.#head = head;
    this.#intervalMs = intervalMs;
  }

  /**
   * Waits until there is a change after one, or for some time.
   *
   * @returns the last change; undefined if the signal aborts or the watch is closed
   */
  next(after: number, signal: AbortSignal | undefined): Promise<number | undefined> {
    if (this.#isClosed || signal?.aborted === true) return Promise.resolve(undefined);
    return new Promise((resolve, reject) => {
      const abort = () => waiter.settle(undefined);
      const waiter: Waiter = {
        after,
        polls: 0,
        settle: (head, error) => {
          this.#waiters.delete(waiter);
          signal?.removeEventListener("abort", abort);
          if (error === undefined) resolve(head);
          else reject(error);
        },
      };
      signal?.addEventListener("abort", abort);
      this.#waiters.add(waiter);
      this.#later();
    });
  }

  /** Ends all waits. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    for (const waiter of this.#waiters) waiter.settle(undefined);
  }

  #later(): void {
    if (this.#timer !== undefined || this.#isPolling || this.#isClosed) return;
    this.#timer = setTimeout(() => void this.#poll(), this.#intervalMs);
  }

  async #poll(): Promise<void> {
    this.#timer = undefined;
    if (this.#waiters.size === 0) return;
    this.#isPolling = true;
    try {
      const head = await this.#head();
      for (const waiter of this.#waiters) {
        waiter.polls++;
        if (head > waiter.after || waiter.polls >= IDLE_POLLS) waiter.settle(head);
      }
    } catch (error) {
      for (const waiter of this.#waiters) waiter.settle(undefined, error);
    } finally {
      this.#isPolling = false;
      if (this.#waiters.size > 0) this.#later();
    }
  }
}
