/** Wakes those who wait for something that happens from time to time. */
export class News {
  readonly #waiting = new Set<() => void>();

  /** Waits for the next `announce`, at most for a time; ends early with the signal. */
  next(limitMs: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = () => {
        clearTimeout(timer);
        signal.removeEventListener("abort", wake);
        this.#waiting.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, limitMs);
      timer.unref();
      signal.addEventListener("abort", wake);
      this.#waiting.add(wake);
    });
  }

  /** Wakes all. */
  announce(): void {
    for (const wake of [...this.#waiting]) wake();
  }
}
