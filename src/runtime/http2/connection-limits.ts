import type { ServerOptions } from "node:http2";
import type { PingLimits } from "./ping-policy.ts";

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
