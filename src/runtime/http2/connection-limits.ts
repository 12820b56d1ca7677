import type { ServerOptions } from "node:http2";

/** The limits of one HTTP/2 connection, which well-behaved clients never approach. */
export interface ConnectionLimits extends PingLimits {
  readonly maxConcurrentStreams: number;
  /** All headers of a call together, names and values. */
  readonly maxHeaderBytes: number;
  readonly maxHeaders: number;
  /** How many calls a client may reset at once, and then per second (CVE-2023-44487). */
  readonly resetBurst: number;
  readonly resetsPerSecond: number;
  /** How long a connection may take to begin, in milliseconds. */
  readonly beginMs: number;
  /** How often a connection is pinged; it has the same time to answer. */
  readonly keepaliveMs: number;
  /** How long a connection may be without a call; absent, no limit. */
  readonly idleMs?: number | undefined;
  /**
   * The age at which a connection accepts no further calls; absent, no limit. Plus or minus a
   * tenth, so that not all end at once.
   */
  readonly maxAgeMs?: number | undefined;
  /** How long the calls of one that is too old may still take; absent, no limit. */
  readonly maxAgeGraceMs?: number | undefined;
}

/** A gateway sends the calls of many clients over one connection, so these are not tight. */
export const DEFAULT_CONNECTION_LIMITS: ConnectionLimits = {
  maxConcurrentStreams: 1000,
  maxHeaderBytes: 32 * 1024,
  maxHeaders: 128,
  resetBurst: 1000,
  resetsPerSecond: 100,
  beginMs: 10_000,
  keepaliveMs: 30_000,
  // Clients ping at most every 10 s; twice as often allows for a network that delays and bunches
  // pings.
  pingEveryMs: 5_000,
  earlyPings: 2,
};

/**
 * In megabytes: never reached. Node counts what a stream was given to send, and does not subtract
 * what remains of it when the stream is reset; that memory is free, yet beyond the limit each new call
 * of the connection is refused permanently. `UnreadResponses` bounds what clients do not take, and
 * `MessageBudget` what they send.
 */
const SESSION_MEMORY = 2 ** 32 - 1;

/** The options of a session of Node. */
export function sessionOptionsOf(limits: ConnectionLimits): ServerOptions {
  return {
    settings: {
      maxConcurrentStreams: limits.maxConcurrentStreams,
      maxHeaderListSize: limits.maxHeaderBytes,
    },
    maxHeaderListPairs: limits.maxHeaders,
    maxSessionMemory: SESSION_MEMORY,
    // Node has these; its types do not yet.
    ...{ streamResetBurst: limits.resetBurst, streamResetRate: limits.resetsPerSecond },
  };
}

/** How often clients may ping. */
export interface PingLimits {
  /** The time between the pings of a client while the server sends nothing, in milliseconds. */
  readonly pingEveryMs: number;
  /** How many pings in a row may come sooner. */
  readonly earlyPings: number;
}

/**
 * How many bytes of ping and settings acknowledgements, our own pings and window updates may be
 * sent between two pings.
 */
const SMALL_TALK = 64;

/**
 * Counts the pings of a connection that come too often, as gRPC servers do: each costs the server
 * as much as the client. A client that is receiving responses may ping without a limit: gRPC
 * clients measure the bandwidth with pings.
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
   * A ping has arrived; returns whether that is too often.
   *
   * @param sentBytes the bytes sent on the connection so far
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

/**
 * The random deviation from the age as a fraction, so that connections that began together do not
 * end together.
 */
const SPREAD = 0.1;

/** When a connection that begins now becomes too old, by `performance.now()`. */
export function tooOldAt(maxAgeMs: number | undefined): number {
  if (maxAgeMs === undefined) return Number.POSITIVE_INFINITY;
  return performance.now() + maxAgeMs * (1 + SPREAD * (2 * Math.random() - 1));
}
