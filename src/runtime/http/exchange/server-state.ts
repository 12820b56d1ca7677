import type { EventLoopTurn } from "../../port/event-loop-turn.ts";
import type { Connections } from "./connections.ts";
import type { Cors } from "./cors.ts";

/** What all requests of a server share. */
export interface ServerState {
  readonly cors: Cors;
  readonly limits: TransportLimits;
  readonly turn: EventLoopTurn;
  readonly connections: Connections;
  /**
   * Whether the server is shutting down: no request after those under way is served on its
   * connection.
   */
  isDraining: boolean;
}

/** The limits of the transport itself, before any call. */
export interface TransportLimits {
  /** The most bytes of all headers with the request line. */
  readonly maxHeaderBytes: number;
  readonly maxHeaders: number;
  /** How long the headers of a request may take, in milliseconds: slow ones hold a connection. */
  readonly headersTimeoutMs: number;
  /**
   * How long a whole request may take to arrive, regardless of the call's timeout; for a request
   * stream, each message.
   */
  readonly requestTimeoutMs: number;
  /** How often the two above are checked. */
  readonly checkingIntervalMs: number;
  /** How long a connection may wait for its next request; longer than load balancers keep theirs. */
  readonly keepAliveTimeoutMs: number;
  /**
   * The age at which a connection accepts no further requests, plus or minus a tenth; absent, no
   * limit.
   */
  readonly maxAgeMs?: number | undefined;
  /**
   * How long the calls of an HTTP/2 connection that is too old may still take; absent, no limit.
   */
  readonly maxAgeGraceMs?: number | undefined;
  /** How many pipelined requests of one connection are under way at once. */
  readonly maxPipelined: number;
  /** How long a response that the client does not read is kept. */
  readonly sendTimeoutMs: number;
  /** How much of an unread body is discarded so that the client gets the error. */
  readonly lingerBytes: number;
  /** How long this may take, in milliseconds, before the connection is closed. */
  readonly lingerMs: number;
}

export const DEFAULT_LIMITS: TransportLimits = {
  maxHeaderBytes: 16 * 1024,
  maxHeaders: 128,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 60_000,
  checkingIntervalMs: 2_000,
  keepAliveTimeoutMs: 75_000,
  maxPipelined: 100,
  sendTimeoutMs: 30_000,
  lingerBytes: 1024 * 1024,
  lingerMs: 1_000,
};
