import { createHash, randomUUID } from "node:crypto";
import type { RiskLevel } from "../../../api/policy.ts";
import { HALVES, INVISIBLE, UNPRINTABLE, writtenOut } from "../../../common/printable.ts";
import type { Transport } from "../../call/transports.ts";

export type { RiskLevel };

/** The outcome of authorization; `none` if there was no check, or it was not reached. */
export type AuditDecision = "allowed" | "denied" | "none";

/**
 * The known progress of a call: `pending` is under way; `unknown` means that its time is up without
 * a stored outcome, as when its process was killed.
 */
export type AuditState = "pending" | "completed" | "unknown";

/**
 * The audit event of a call: CloudEvents 1.0 in JSON (docs/requirements.md, AUDIT-1). It contains
 * no secrets.
 */
export interface AuditEvent {
  /** The version of CloudEvents. */
  readonly specversion: "1.0";
  /** A UUID of version 7 (RFC 9562): later events sort after. */
  readonly id: string;
  /** `/svc/` and the deployed service. */
  readonly source: string;
  /** What happened: the event that the RPC's policy or the declared path names, or that code of the service recorded. */
  readonly type: string;
  /** The same as `data.resource`. */
  readonly subject?: string;
  /** When the call began, in UTC with milliseconds (RFC 3339): `2026-01-31T12:00:00.000Z`. */
  readonly time: string;
  /** The media type of `data`. */
  readonly datacontenttype: "application/json";
  /** W3C trace context: the extension "Distributed Tracing". */
  readonly traceparent?: string;
  /** What happened, in the terms of this platform. */
  readonly data: AuditData;
}

/** What the event says of the call. */
export interface AuditData {
  /** The known progress of the call. */
  readonly state: AuditState;
  /** How much harm it can do: that of the policy, or of the event that a handler recorded. */
  readonly risk_level: RiskLevel;
  /** Absent if nobody was identified. */
  readonly principal?: AuditPrincipal;
  /**
   * The full method name, such as `hub.skills.v1.SkillService/GetSkill`; of a raw handler, its path.
   * Empty outside of calls.
   */
  readonly rpc: string;
  /** The protocol of the call; absent outside of calls. */
  readonly transport?: Transport;
  /**
   * The object that the event is about, as `type:id`: the one that the handler named by
   * `context.audit.setResource`, else that of the policy's `audit.resource`, else the one that was
   * authorized; of an event that a handler recorded, the one that it gave. Absent if none is named.
   */
  readonly resource?: string;
  /** The outcome of authorization. */
  readonly decision: AuditDecision;
  /** The decision of an AUTHORIZED RPC: it can be reproduced from this. */
  readonly authz?: AuditAuthorization;
  /**
   * The HTTP status of the handler's outcome, or of the refusal before it; absent while pending,
   * and in events that a handler recorded.
   */
  readonly status?: number;
  /** The code of the same error, such as `FORBIDDEN`; `OK` without an error; absent while pending. */
  readonly code?: string;
  /** The response that the caller got, if it differs: such as that the deadline has passed. */
  readonly answered?: {
    /** The HTTP status. */
    readonly status: number;
    /** The code of the error; `OK` without an error. */
    readonly code: string;
  };
  /**
   * The handler's stream was cut off before its end, without an error of the handler: its effects
   * until then remain. `code` is `OK`, and `answered` or `caller_gone` says why.
   */
  readonly cut_off?: true;
  /** Whether the caller had cancelled before the handler ended, so that no response was sent. */
  readonly caller_gone?: true;
  /** The id in the logs of the call and in its response; empty outside of calls. */
  readonly request_id: string;
  /** The id of the trace, 32 hexadecimal digits (W3C trace context). */
  readonly trace_id?: string;
  /** The IP address of the client, behind the proxies that are trusted; empty outside of calls. */
  readonly client_address: string;
  /** The other end of the connection, where that is not the client. */
  readonly peer_address?: string;
  /** How long it took, in milliseconds; absent while pending. */
  readonly duration_ms?: number;
  /** Of an event that a handler recorded: the event of its call, where that is audited. */
  readonly call_event?: string;
  /** Of an event that code of the service recorded: its details. */
  readonly details?: Readonly<Record<string, string | number | boolean>>;
  /** Of an event for repeated refusals. */
  readonly repeats?: AuditRepeats;
  /** The process that served the call. */
  readonly instance: string;
}

/**
 * Refused calls of one caller on one RPC within a minute of the first, which has an event of its
 * own. If too many callers are refused at once, those of all other callers on the RPC.
 */
export interface AuditRepeats {
  /** The id of the event of the first call. */
  readonly of: string;
  /** How many calls these are, without the first. */
  readonly count: number;
  /** When the first of these calls arrived, in the form of `time`. */
  readonly first: string;
  /** When the last of them arrived. */
  readonly last: string;
  /** How many different objects were asked for; above 20 an estimate. */
  readonly distinct_resources: number;
  /** The estimated number of callers, if there are many. */
  readonly distinct_callers?: number;
  /** Up to 20 requested objects, with the client; with the caller if there are many. */
  readonly resources: readonly {
    /** The object, as `type:id`; absent if the call named none. */
    readonly resource?: string;
    /** The requested permission. */
    readonly action?: string;
    /** The IP address of the client. */
    readonly client_address: string;
    /**
     * The caller, as `type:id`; absent if all calls are of one caller, or it was not identified.
     */
    readonly subject?: string;
  }[];
}

/** A decision of authorization, with its question. */
export interface AuditAuthorization {
  /** The caller, as `type:id`. */
  readonly subject: string;
  /** The requested permission. */
  readonly action: string;
  /**
   * The object, as `type:id` or `type:*`; the pattern of the policy if the caller lacks the field
   * that it names.
   */
  readonly resource: string;
  /** The state of the relationships that it was decided on; absent if no engine was asked. */
  readonly revision?: string;
  /** The required subject type, if the caller was denied because it has another one. */
  readonly audience?: string;
  /** What was decided. */
  readonly decision: "allowed" | "denied";
}

/** Who called, or, outside of calls, who ran the command: an operator. */
export interface AuditPrincipal {
  /** The subject type, such as `user` or `service`. */
  readonly type: string;
  /** The subject id. */
  readonly id: string;
  /** Where the authentication of a caller comes from: `gateway`, `jwt` or `internal`; outside of calls, what the program names. */
  readonly source: string;
  /** The organization that the caller belongs to. */
  readonly organization?: string;
}

/** A new id, a UUID of version 7: later ones sort after, so that a table grows at its end. */
export function eventId(time: number): string {
  const digits = time.toString(16).padStart(12, "0").slice(-12);
  return `${digits.slice(0, 8)}-${digits.slice(8)}-7${randomUUID().slice(15)}`;
}

/** The time of which an id was made. */
export function timeOfEventId(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

/** The most UTF-16 units of a text in an event: an index of PostgreSQL holds no more than 2.7 kB. */
export const MAX_TEXT = 512;

const PLAIN = /^[\x20-\x7e]*$/;
const UNSAFE = new RegExp(`[${UNPRINTABLE}${INVISIBLE}${HALVES}]`, "gu");

/** The length of the mark at the end of a truncated text. */
const MARK = 13;

/**
 * A text that is safe in every database, log and terminal. Unsafe characters are escaped, such as
 * `\u202e`, and a truncated text ends in `…` and a hash of the full text. So two objects do not
 * look the same, and a search for the full text finds it.
 *
 * @param most the most UTF-16 units
 */
export function safeText(text: string, most = MAX_TEXT): string {
  if (text.length <= most && PLAIN.test(text)) return text;
  const safe = text.slice(0, most).replaceAll(UNSAFE, writtenOut);
  if (text.length <= most && safe.length <= most) return safe;
  const hash = createHash("sha256")
    .update(text)
    .digest("hex")
    .slice(0, MARK - 1);
  // The cut may split a surrogate pair.
  const begin = safe.slice(0, most - MARK).replace(/[\ud800-\udbff]$/, "\ufffd");
  return `${begin}\u2026${hash}`;
}
