import type { Peer } from "../call/peer.ts";
import type { Transport } from "../call/transport.ts";

/** A request that was answered before it could become a call: no route, a preflight, too large, malformed. */
export interface UnroutedRequest {
  readonly transport: Transport;
  /** The HTTP method; empty where it could not be read. */
  readonly httpMethod: string;
  /** The path as it was sent, without query, for the log only. */
  readonly target: string;
  /** The HTTP status; also over gRPC, where that says 200 whatever the outcome. */
  readonly status: number;
  /** The code of the error; undefined for an answer that is none. */
  readonly code: string | undefined;
  readonly requestId: string;
  readonly peer: Peer;
}

/** Watches requests that never become calls: metrics and access log. Never throws. */
export type UnroutedObserver = (request: UnroutedRequest) => void;
