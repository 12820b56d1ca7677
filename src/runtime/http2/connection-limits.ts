import type { ServerOptions } from "node:http2";

/** What one HTTP/2 connection may ask of the server; clients that behave never come near. */
export interface ConnectionLimits extends PingLimits {
  readonly maxConcurrentStreams: number;
  /** All headers of a call together, names and values. */
  readonly maxHeaderBytes: number;
  readonly maxHeaders: number;
  /** How many calls a client may take back at once, and then in a second (CVE-2023-44487). */
  readonly resetBurst: number;
  readonly resetsPerSecond: number;
  /** How long a connection may take to begin, in milliseconds. */
  readonly beginMs: number;
  /** How often a connection is asked whether it is alive; it has as long to answer. */
  readonly keepaliveMs: number;
  /** How long a connection may be without a call; absent, for ever. */
  readonly idleMs?: number | undefined;
  /** After how long a connection takes no further calls; absent, never. A tenth more or less, so that not all end at once. */
  readonly maxAgeMs?: number | undefined;
  /** How long the calls of one that is too old may still take; absent, as long as they like. */
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
  // Clients ping each 10 s at the most; twice as often leaves room for a network that bunches them.
  pingEveryMs: 5_000,
  earlyPings: 2,
};

/**
 * In megabytes. Node's own limit of 10 is reached by a few large responses that clients
 * take slowly, and then refuses the calls of all others on the connection.
 */
const SESSION_MEMORY = 128;

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

/** How much sooner or later than its age a connection ends, of it: not all that began together end together. */
const SPREAD = 0.1;

/** When a connection that begins now becomes too old, by `performance.now()`. */
export function tooOldAt(maxAgeMs: number | undefined): number {
  if (maxAgeMs === undefined) return Number.POSITIVE_INFINITY;
  return performance.now() + maxAgeMs * (1 + SPREAD * (2 * Math.random() - 1));
}
