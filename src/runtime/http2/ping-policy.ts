/** How often clients may ping. */
export interface PingLimits {
  /** The time between the pings of a client to which nothing is sent meanwhile, in milliseconds. */
  readonly pingEveryMs: number;
  /** How many pings in a row may come sooner. */
  readonly earlyPings: number;
}

/** What answers to pings and settings, our own pings and window updates come to between two pings, in bytes. */
const SMALL_TALK = 64;

/**
 * Counts the pings of a connection that come too often, as gRPC servers do: each costs the server as
 * much as the client. Whoever gets responses may ping as it likes: gRPC clients find out so how much
 * data is on its way.
 */
export class PingPolicy {
  readonly #limits: PingLimits;
  #lastAt = Number.NEGATIVE_INFINITY;
  #lastSent = 0;
  #early = 0;

  constructor(limits: PingLimits) {
    this.#limits = limits;
  }

  /**
   * A ping has come; tells whether that is too often.
   *
   * @param sentBytes what was sent on the connection as yet
   */
  isTooOften(now: number, sentBytes: number): boolean {
    const isEarly = now - this.#lastAt < this.#limits.pingEveryMs;
    const isAmongResponses = sentBytes - this.#lastSent > SMALL_TALK;
    this.#lastAt = now;
    this.#lastSent = sentBytes;
    this.#early = isEarly && !isAmongResponses ? this.#early + 1 : 0;
    return this.#early > this.#limits.earlyPings;
  }
}
