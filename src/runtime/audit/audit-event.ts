import type { RiskLevel } from "../../api/policy.ts";
import type { Transport } from "../call/transport.ts";

export type { RiskLevel };

/** What authorization came to; `none` where none was asked for, or it was not reached. */
export type AuditDecision = "allowed" | "denied" | "none";

/**
 * How far a call is known to have come: `pending` is under way, `unknown` has had
 * its time and no outcome was stored, as when its process was killed.
 */
export type AuditState = "pending" | "completed" | "unknown";

/** The audit event of a call: CloudEvents 1.0 in JSON. It holds no secret. */
export interface AuditEvent {
  readonly specversion: "1.0";
  readonly id: string;
  /** `/svc/` and the deployed service. */
  readonly source: string;
  /** What happened: the event that the RPC's policy or the declared path names, or that a handler recorded. */
  readonly type: string;
  /** The same as `data.resource`. */
  readonly subject?: string;
  /** When the call began. */
  readonly time: string;
  readonly datacontenttype: "application/json";
  /** W3C trace context: the extension "Distributed Tracing". */
  readonly traceparent?: string;
  readonly data: AuditData;
}

/** What the event says of the call. */
export interface AuditData {
  readonly state: AuditState;
  readonly risk_level: RiskLevel;
  /** Absent where nobody was identified. */
  readonly principal?: AuditPrincipal;
  readonly rpc: string;
  readonly transport: Transport;
  /**
   * The object that the event is about, as `type:id`: the one that the handler named by
   * `context.audit.setResource`, else that of the policy's `audit.resource`, else the one that was
   * authorized; of an event that a handler recorded, the one that it gave. Absent where none is named.
   */
  readonly resource?: string;
  readonly decision: AuditDecision;
  /** What was decided, of an AUTHORIZED RPC: the decision can be made again from it. */
  readonly authz?: AuditAuthorization;
  /**
   * What the handler did, or what the call was refused with before it: the HTTP status and the
   * code, `OK` where it was no error; absent while pending.
   */
  readonly status?: number;
  readonly code?: string;
  /** What the caller was told, where that is something else: such as that its time was up. */
  readonly answered?: { readonly status: number; readonly code: string };
  /**
   * The handler's stream was left before its end, and it reported no error: what it did until then
   * stands. `code` is `OK`, and `answered` or `caller_gone` says why.
   */
  readonly cut_off?: true;
  /** Whether the caller had gone before the handler ended, so that nobody was told. */
  readonly caller_gone?: true;
  readonly request_id: string;
  readonly trace_id?: string;
  readonly client_address: string;
  /** The other end of the connection, where that is not the client. */
  readonly peer_address?: string;
  /** How long it took, in milliseconds; absent while pending. */
  readonly duration_ms?: number;
  /** Of an event that a handler recorded: the event of its call, where that is audited. */
  readonly call_event?: string;
  /** Of an event that a handler recorded: what it had to say. */
  readonly details?: Readonly<Record<string, string | number | boolean>>;
  /** Of an event that stands for refused calls that repeated. */
  readonly repeats?: AuditRepeats;
  /** The process that served the call. */
  readonly instance: string;
}

/**
 * Refused calls of one caller on one RPC that came within a minute of the first, whose event is
 * its own. Where too many callers are refused at once, those of all others on the RPC.
 */
export interface AuditRepeats {
  /** The id of the event of the first call. */
  readonly of: string;
  /** How many calls these are, without the first. */
  readonly count: number;
  readonly first: string;
  readonly last: string;
  /** How many different objects were asked for; above 20 an estimate. */
  readonly distinct_resources: number;
  /** An estimate of how many callers these are of, where they are of many. */
  readonly distinct_callers?: number;
  /** Up to 20 of what was asked for and from where; by whom, where the calls are of many callers. */
  readonly resources: readonly {
    readonly resource?: string;
    readonly action?: string;
    readonly client_address: string;
    readonly subject?: string;
  }[];
}

/** A decision of authorization, and the question. */
export interface AuditAuthorization {
  /** Who asked, as `type:id`. */
  readonly subject: string;
  readonly action: string;
  /** The object, as `type:id` or `type:*`; the pattern of the policy where the caller lacks what it names. */
  readonly resource: string;
  /** The state of the relationships that it was decided on; absent where no engine was asked. */
  readonly revision?: string;
  /** The subject type that callers must have, where the caller has another one and is denied for it. */
  readonly audience?: string;
  readonly decision: "allowed" | "denied";
}

/** Who called. */
export interface AuditPrincipal {
  readonly type: string;
  readonly id: string;
  readonly source: string;
  readonly organization?: string;
}
