import { performance as nodePerformance } from "node:perf_hooks";

/** The time, and what the event loop has done. */
export interface LoopClock {
  /** In milliseconds. */
  now(): number;
  /** How many events, such as of sockets, the event loop has handled so far; undefined if that is not known. */
  events(): number | undefined;
}

/**
 * The bytes of large responses that one turn of the event loop may encode. All calls that arrive with
 * one read run in the same turn: without a bound, their responses are all in memory before the first
 * is sent, and no other call is served in the meantime.
 *
 * Once a turn has spent its bytes, further calls of RPCs with large responses wait: until others
 * have had as much time, or need none. Node accepts one connection in a turn, for example, and those
 * that wait to be accepted would wait for one large response each. The connections take turns.
 */
export class TurnBudget {
  readonly #limit: number;
  readonly #clock: LoopClock;
  readonly #large = new WeakSet<object>();
  /** The calls that wait, by connection. */
  readonly #waiting = new Map<object, Set<() => void>>();
  #spent = 0;
  /** When the work of this turn began; undefined before it. */
  #beganAt: number | undefined;

  /** @param limit in bytes; the response that reaches it is still encoded */
  constructor(limit: number, clock: LoopClock = CLOCK) {
    this.#limit = limit;
    this.#clock = clock;
  }

  /** Whether some calls must wait: see `delays`. */
  get isSpent(): boolean {
    return this.#spent >= this.#limit;
  }

  /** Whether a call of an RPC must wait before it takes memory for its response. */
  delays(rpc: object): boolean {
    return this.isSpent && this.#large.has(rpc);
  }

  /**
   * Counts a large response that was encoded.
   *
   * @param rpc from now on its calls wait once a turn has spent its bytes
   */
  spend(bytes: number, rpc: object): void {
    this.#large.add(rpc);
    this.#count(bytes);
  }

  /**
   * Resolves when the call may continue; call it only while it must wait.
   *
   * @param connection each has one call after the other, and all have the same number
   * @param signal of the call: once it is aborted, the call waits no longer, so that nothing keeps its
   * messages
   * @throws the signal's reason
   */
  next(connection: object, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const queue = this.#waiting.get(connection) ?? new Set();
      const proceed = (): void => {
        signal.removeEventListener("abort", leave);
        resolve();
      };
      const leave = (): void => {
        if (queue.delete(proceed) && queue.size === 0) this.#waiting.delete(connection);
        reject(signal.reason);
      };
      this.#waiting.set(connection, queue.add(proceed));
      signal.addEventListener("abort", leave, { once: true });
    });
  }

  #count(bytes: number): void {
    if (this.#spent === 0) {
      this.#beganAt ??= this.#clock.now();
      setImmediate(() => this.#turned());
    }
    this.#spent += bytes;
  }

  #turned(): void {
    if (!this.isSpent) return this.#renew();
    const now = this.#clock.now();
    this.#yield(now + (now - (this.#beganAt ?? now)), this.#clock.events());
  }

  /** Gives others their turns: until a time, or until one of them has nothing to do. */
  #yield(until: number, events: number | undefined): void {
    const spent = this.#spent;
    setImmediate(() => {
      const handled = this.#clock.events();
      const isQuiet = handled !== undefined && handled === events;
      // Of a call that had waited already and took long: this turn has its large response.
      const isUsed = this.#spent !== spent;
      if (!isUsed && (isQuiet || this.#clock.now() >= until)) this.#renew();
      else this.#yield(until, handled);
    });
  }

  #renew(): void {
    this.#spent = 0;
    this.#beganAt = undefined;
    if (this.#waiting.size > 0) this.#release();
  }

  /** Continues one, as far as it gets without waiting, and then the next one. */
  #release(): void {
    const proceed = this.isSpent ? undefined : this.#take();
    if (proceed === undefined) {
      // The turn ends without a large response: the next one has its own beginning.
      if (this.#spent === 0) this.#beganAt = undefined;
      return;
    }
    this.#beganAt ??= this.#clock.now();
    proceed();
    // Runs once no microtask is left, and so not before the call above has encoded its response.
    queueMicrotask(() => process.nextTick(() => this.#releaseNext()));
  }

  #releaseNext(): void {
    // Many that take time, but no bytes.
    const isLong = this.#clock.now() - (this.#beganAt ?? 0) >= MS_A_TURN;
    if (isLong && this.#waiting.size > 0 && !this.isSpent) this.#count(this.#limit);
    this.#release();
  }

  /** The first one of the connection whose turn it is. */
  #take(): (() => void) | undefined {
    const [first] = this.#waiting;
    if (first === undefined) return undefined;
    const [connection, queue] = first;
    const [proceed] = queue;
    this.#waiting.delete(connection);
    if (proceed !== undefined && queue.delete(proceed) && queue.size > 0) {
      this.#waiting.set(connection, queue);
    }
    return proceed;
  }
}

/** How long a turn works for calls that have waited, in milliseconds. */
const MS_A_TURN = 20;

const CLOCK: LoopClock = {
  now: () => performance.now(),
  // Node 20 has it from 20.18 on.
  events: () => nodePerformance.nodeTiming.uvMetricsInfo?.events,
};

/** A turn has one of the largest responses, which takes tens of milliseconds to make, or some smaller ones. */
const BYTES_A_TURN = 1024 * 1024;

/** That of the process. */
export const responsesOfTurn = new TurnBudget(BYTES_A_TURN);
