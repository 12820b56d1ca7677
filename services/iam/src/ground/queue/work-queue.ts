/** The queue is full: the work was not begun. */
export class QueueFullError extends Error {
  override readonly name = "QueueFullError";
}

interface Waiting {
  readonly begin: () => void;
}

/**
 * Runs expensive work, a few at a time and in order; what comes when too much waits is refused, so
 * that a flood costs its senders an answer and this process nothing.
 */
export class WorkQueue {
  readonly #atOnce: number;
  readonly #mayWait: number;
  #running = 0;
  /** In the order of arrival; a `Set`, since who goes away leaves from anywhere. */
  readonly #waiting = new Set<Waiting>();

  /**
   * @param atOnce how much of it runs at the same time
   * @param mayWait how much of it may wait
   */
  constructor(atOnce: number, mayWait: number) {
    this.#atOnce = atOnce;
    this.#mayWait = mayWait;
  }

  /**
   * Runs the work when it is its turn.
   *
   * @param signal takes the work out of the queue; work that runs is not interrupted
   * @throws QueueFullError where too much waits; the reason of the signal where it aborts first
   */
  async run<Result>(work: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    signal?.throwIfAborted();
    if (this.#running >= this.#atOnce) await this.#turn(signal);
    else this.#running += 1;
    try {
      return await work();
    } finally {
      this.#next();
    }
  }

  /** Waits for a place, which the work that ends passes on. */
  #turn(signal: AbortSignal | undefined): Promise<void> {
    if (this.#waiting.size >= this.#mayWait) throw new QueueFullError("too many are waiting");
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.#waiting.delete(waiting);
        reject(signal?.reason);
      };
      const waiting: Waiting = {
        begin: () => {
          signal?.removeEventListener("abort", leave);
          resolve();
        },
      };
      this.#waiting.add(waiting);
      signal?.addEventListener("abort", leave, { once: true });
    });
  }

  #next(): void {
    const [first] = this.#waiting;
    if (first === undefined) {
      this.#running -= 1;
      return;
    }
    this.#waiting.delete(first);
    first.begin();
  }
}
