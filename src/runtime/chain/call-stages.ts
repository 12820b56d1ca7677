import type { Call } from "../call/call.ts";
import type { CallAudit } from "../call/call-context.ts";
import type { Transport } from "../call/transports.ts";
import type { ServiceError } from "../error/service-error.ts";
import type { Peer } from "../peer/peer.ts";

/**
 * Checks a call or fills it in; refuses it by throwing a `ServiceError`. Synchronous stages return
 * nothing.
 */
export type Stage = (call: Call) => void | Promise<void>;

/** How a call, or its handler, ended; without an error it succeeded. */
export interface CallEnd {
  readonly error: ServiceError | undefined;
  /** Of a handler: its stream was cut off before its end. Its effects until then remain. */
  readonly isCutOff?: true;
}

/** Keeps the audit event of a call. */
export interface AuditTrail {
  /**
   * Begins the event of an authorized call. For a write the intent is stored first.
   *
   * @throws ServiceError UNAVAILABLE if the intent cannot be stored
   */
  begin(call: Call): void | Promise<void>;
  /**
   * Completes the event with the outcome of the call, or stores the event of a refused one. Never
   * throws: events that cannot be stored now are kept and retried.
   *
   * @param error how the handler ended; for a call that did not reach it, the error that it was
   * refused with
   * @param answer the response to the caller; the same if absent
   * @param isCutOff whether the handler's stream was left before its end
   */
  complete(
    call: Call,
    error: ServiceError | undefined,
    answer?: CallEnd,
    isCutOff?: boolean,
  ): void | Promise<void>;
  /**
   * The call is over for its caller, and its handler still runs: the event stays pending until
   * `complete`, for as long as this process lives.
   */
  outlast(call: Call, answer: CallEnd): void;
  /** Lets a handler add to the audit of its call; absent if nothing is stored. */
  readonly auditOf?: (call: Call) => CallAudit;
}

/** Watches calls begin and end: metrics, access log, traces. Never throws. */
export interface CallObserver {
  begin?(call: Call): void;
  end(call: Call, error: ServiceError | undefined): void;
}

/**
 * A request that got a response before it became a call: no route, a preflight, too large,
 * malformed.
 */
export interface UnroutedRequest {
  readonly transport: Transport;
  /** The HTTP method; empty if it could not be read. */
  readonly httpMethod: string;
  /** The path as it was sent, without query, for the log only. */
  readonly target: string;
  /** The HTTP status; also over gRPC, where it is 200 for every outcome. */
  readonly status: number;
  /** The code of the error; undefined for other responses. */
  readonly code: string | undefined;
  readonly requestId: string;
  readonly peer: Peer;
}

/** Watches requests that never become calls: metrics and access log. Never throws. */
export type UnroutedObserver = (request: UnroutedRequest) => void;
