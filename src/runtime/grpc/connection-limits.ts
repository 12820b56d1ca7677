import type { ServerOptions as Http2Options } from "node:http2";
import type { ServerOptions } from "@grpc/grpc-js";

/** What one connection may ask of the server; clients that behave never come near. */
export interface ConnectionLimits {
  readonly maxConcurrentStreams: number;
  /** All headers of a call together, names and values. */
  readonly maxHeaderBytes: number;
  readonly maxHeaders: number;
  /** How many calls a client may take back at once, and then in a second (CVE-2023-44487). */
  readonly resetBurst: number;
  readonly resetsPerSecond: number;
  /** How often a connection is asked whether it is alive; it has as long to answer. */
  readonly keepaliveMs: number;
}

/** A gateway sends the calls of many clients over one connection, so these are not tight. */
export const DEFAULT_CONNECTION_LIMITS: ConnectionLimits = {
  maxConcurrentStreams: 1000,
  maxHeaderBytes: 32 * 1024,
  maxHeaders: 128,
  resetBurst: 1000,
  resetsPerSecond: 100,
  keepaliveMs: 30_000,
};

/**
 * In megabytes. Node's own limit of 10 is reached by a few large responses that clients
 * take slowly, and then refuses the calls of all others on the connection.
 */
const SESSION_MEMORY = 128;

/** The options of grpc-js's server. */
export function serverOptionsOf(limits: ConnectionLimits, maxMessageBytes: number): ServerOptions {
  return {
    "grpc.max_receive_message_length": maxMessageBytes,
    "grpc.max_send_message_length": maxMessageBytes,
    "grpc.keepalive_time_ms": limits.keepaliveMs,
    "grpc.keepalive_timeout_ms": limits.keepaliveMs,
    // Statistics of each call and connection that nobody reads here.
    "grpc.enable_channelz": 0,
  };
}

/** The options of Node's HTTP/2 server, most of which grpc-js has no name for. */
export function http2OptionsOf(limits: ConnectionLimits): Http2Options {
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
