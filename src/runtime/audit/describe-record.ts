import type { Call } from "../call/call.ts";
import type { AuditRecord } from "../call-audit.ts";
import type { AuditEvent } from "./audit-event.ts";
import type { Details } from "./check-record.ts";
import { callFacts, type EventSource, envelope } from "./describe-call.ts";
import { safeText } from "./safe-text.ts";

/** A further event of a call. */
export interface DescribedRecord {
  readonly record: AuditRecord;
  /** Without secrets. */
  readonly details: Details | undefined;
  readonly id: string;
  readonly time: number;
  /** The id of the event of the call, where it is audited. */
  readonly callEvent: string | undefined;
}

/** Makes the event that a handler records. */
export function describeRecord(
  source: EventSource,
  call: Call,
  { record, details, id, time, callEvent }: DescribedRecord,
  maxText: number,
): AuditEvent {
  const { event, riskLevel = "LOW" } = record;
  const resource = record.resource === undefined ? undefined : safeText(record.resource, maxText);
  return {
    ...envelope(source, call, { id, time, type: event, resource }, maxText),
    data: {
      state: "completed",
      risk_level: riskLevel,
      ...callFacts(call, maxText),
      ...(resource === undefined ? {} : { resource }),
      decision: "none",
      code: "OK",
      ...(callEvent === undefined ? {} : { call_event: callEvent }),
      ...(details === undefined ? {} : { details: cut(details, maxText) }),
      instance: safeText(source.instance, maxText),
    },
  };
}

function cut(details: Details, maxText: number): Details {
  return Object.fromEntries(
    Object.entries(details).map(([name, value]) => {
      return [name, typeof value === "string" ? safeText(value, Math.min(maxText, 256)) : value];
    }),
  );
}
