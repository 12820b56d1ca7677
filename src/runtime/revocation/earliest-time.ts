import { earliest, type ObservedTime, observe } from "../../common/observed-time.ts";

/**
 * The earliest time that it can be by a clock, which may jump: a jump ahead counts only once the
 * clock has shown it for 24 hours. So nothing that is kept until a time is dropped too early.
 */
export class EarliestTime {
  readonly #monotonic: () => number;
  #state: ObservedTime = { ran: 0, hours: [] };
  #at: number;

  /** @param monotonic milliseconds of a clock that no change of the time moves */
  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
    this.#at = monotonic();
  }

  /** The clock shows this time now, in milliseconds since the epoch. */
  observe(time: number): void {
    const now = this.#monotonic();
    this.#state = observe(this.#state, Math.max(0, now - this.#at), time);
    this.#at = now;
  }

  /** In milliseconds since the epoch, when the clock was last observed; before that, there is none. */
  get value(): number {
    return this.#state.hours.length === 0 ? Number.NEGATIVE_INFINITY : earliest(this.#state);
  }
}
