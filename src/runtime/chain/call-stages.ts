import type { Call } from "../call/call.ts";
import type { CallAudit } from "../call/call-context.ts";
import type { Transport } from "../call/transports.ts";
import type { ServiceError } from "../error/service-error.ts";
import type { Peer } from "../peer/peer.ts";

/** Looks at a call or fills it in; refuses it by throwing a `ServiceError`. Stages without waiting return nothing. */
export type Stage = (call: Call) => void | Promise<void>;

/** How a call, or its handler, ended; without an error all went well. */
export interface CallEnd {
  readonly error: ServiceError | undefined;
  /** Of a handler: its stream was left before it came to its own end. What it did until then stands. */
  readonly isCutOff?: true;
}

/** Keeps the audit event of a call. */
export interface AuditTrail {
  /**
   * Begins the event of a call that was authorized. Of a write the intent is stored first.
   *
   * @throws ServiceError UNAVAILABLE where the intent cannot be stored
   */
  begin(call: Call): void | Promise<void>;
  /**
   * Completes the event with what became of the call, or stores that of one that was refused.
   * Never throws: what cannot be stored now is kept and tried again.
   *
   * @param error how the handler ended; of a call that did not come as far, what it was refused with
   * @param answer what the caller was sent; the same where absent
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
  /** What a handler adds to the audit of its call; absent where nothing is stored. */
  readonly auditOf?: (call: Call) => CallAudit;
}

/** Watches calls begin and end: metrics, access log, traces. Never throws. */
export interface CallObserver {
  begin?(call: Call): void;
  end(call: Call, error: ServiceError | undefined): void;
}

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
