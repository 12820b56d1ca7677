import type { Call } from "../call/call.ts";
import type { CallAudit } from "../call-audit.ts";
import type { ServiceError } from "../error/service-error.ts";

/** Looks at a call or fills it in; refuses it by throwing a `ServiceError`. Stages without waiting return nothing. */
export type Stage = (call: Call) => void | Promise<void>;

/** How a call, or its handler, ended; without an error all went well. */
export interface CallEnd {
  readonly error: ServiceError | undefined;
  /** Of a handler: its stream was left before it came to its own end. What it did until then stands. */
  readonly isCutOff?: true;
}

/** Keeps the audit event of a call (design.md, "Audit"). */
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
   * @param answer what the caller was told; the same where absent
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
