import { setTimeout as sleep } from "node:timers/promises";

/** The requests of a stream, given one by one; counts those that were taken. */
export class RequestQueue<Request> implements AsyncIterable<Request> {
  readonly #waiting: Request[] = [];
  #isClosed = false;
  #wake: (() => void) | undefined;
  taken = 0;

  /** Waits before it gives one. */
  async give(request: Request, delayMs: number): Promise<void> {
    if (delayMs > 0) await sleep(delayMs);
    this.#waiting.push(request);
    this.#wake?.();
  }

  close(): void {
    this.#isClosed = true;
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Request> {
    for (;;) {
      const next = this.#waiting.shift();
      if (next !== undefined) {
        this.taken++;
        yield next;
      } else if (this.#isClosed) {
        return;
      } else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    }
  }
}
