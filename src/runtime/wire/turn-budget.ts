/**
 * The bytes of large responses that one turn of the event loop may encode. All calls that arrive with
 * one read run in the same turn: without a bound, their responses are all in memory before the first
 * is sent, and no other call is served in the meantime. Once a turn has spent its bytes, further calls wait
 * for a later turn, in their order.
 */
export class TurnBudget {
  readonly #limit: number;
  #spent = 0;
  #waiting: (() => void)[] = [];

  /** @param limit in bytes; the response that reaches it is still encoded */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Whether a call must wait for a later turn before it takes memory for its response. */
  get isSpent(): boolean {
    return this.#spent >= this.#limit;
  }

  /** Counts a response that was encoded. */
  spend(bytes: number): void {
    if (this.#spent === 0) setImmediate(() => this.#turned());
    this.#spent += bytes;
  }

  /** Resolves in a later turn; call it only while the budget is spent. */
  next(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #turned(): void {
    this.#spent = 0;
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#release(waiting, 0);
  }

  /** Continues one, as far as it gets without waiting, and then the next one. */
  #release(waiting: (() => void)[], index: number): void {
    const resolve = waiting[index];
    if (resolve === undefined) return;
    if (this.isSpent) {
      // Before those that arrived in the meantime.
      this.#waiting = [...waiting.slice(index), ...this.#waiting];
      return;
    }
    resolve();
    // Runs once no microtask is left, and so not before the call above has encoded its response.
    queueMicrotask(() => process.nextTick(() => this.#release(waiting, index + 1)));
  }
}

/** A turn has one of the largest responses, which takes tens of milliseconds to make, or some smaller ones. */
const BYTES_A_TURN = 1024 * 1024;

/** That of the process. */
export const responsesOfTurn = new TurnBudget(BYTES_A_TURN);
