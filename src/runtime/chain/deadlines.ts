/** Something with a deadline. */
export interface Timed {
  /** Of `performance.now()`. */
  expiresAt: number;
  previous: Timed | undefined;
  next: Timed | undefined;
  /** Called if it is not over by then; it is no longer watched. */
  expire(): void;
}

/** How many are ended in one turn of the event loop: thousands of calls may wait for the same thing. */
const AT_ONCE = 64;

/**
 * Watches deadlines that all have the same duration, with one timer for all: a timer for each costs
 * more than a stage of the chain, and almost none fires.
 */
export class Deadlines {
  readonly #milliseconds: number;
  #first: Timed | undefined;
  #last: Timed | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(milliseconds: number) {
    this.#milliseconds = milliseconds;
  }

  /**
   * Begins to watch: since all have the same duration, the newest expires last. @param now of
   * `performance.now()`
   */
  add(timed: Timed, now: number): void {
    timed.expiresAt = now + this.#milliseconds;
    timed.previous = this.#last;
    timed.next = undefined;
    if (this.#last === undefined) this.#first = timed;
    else this.#last.next = timed;
    this.#last = timed;
    this.#timer ??= setTimeout(() => this.#look(), this.#milliseconds).unref();
  }

  /** It is over. No effect if it is not watched. */
  remove(timed: Timed): void {
    const { previous, next } = timed;
    if (previous === undefined && next === undefined && this.#first !== timed) return;
    if (previous === undefined) this.#first = next;
    else previous.next = next;
    if (next === undefined) this.#last = previous;
    else next.previous = previous;
    timed.previous = undefined;
    timed.next = undefined;
    // The timer stays: it finds nothing to do, or when to look again.
  }

  #look(): void {
    this.#timer = undefined;
    const now = performance.now();
    let first = this.#first;
    for (let ended = 0; ended < AT_ONCE && first !== undefined && first.expiresAt <= now; ended++) {
      this.remove(first);
      first.expire();
      first = this.#first;
    }
    if (first === undefined) return;
    const wait = Math.max(1, Math.ceil(first.expiresAt - now));
    this.#timer = setTimeout(() => this.#look(), wait).unref();
  }
}
