import { AUDIT_EVENT_NAME, MAX_AUDIT_EVENT_NAME, RISK_LEVELS } from "../../../api/policy.ts";
import { parseResource } from "../../../api/resource.ts";
import { OBJECT_IDS } from "../../../model/object-id.ts";
import type { Call } from "../../call/call.ts";
import type { AuditRecord } from "../../call/call-context.ts";
import { isSecretKey, REDACTED } from "../../logging/redaction/named-secrets.ts";
import { redactText } from "../../logging/redaction/redact-text.ts";
import { type AuditEvent, type AuditPrincipal, safeText } from "./audit-event.ts";
import { callFacts, type EventSource, envelope, outsideOfCalls } from "./describe-call.ts";

const NAME = /^[a-z][a-z0-9_]{0,39}$/;
const MAX_DETAILS = 16;
const KEYS: ReadonlySet<string> = new Set([
  "event",
  "riskLevel",
  "resource",
  "details",
  "mustBeStored",
]);

/** Details as they are stored: without secrets. */
export type Details = Readonly<Record<string, string | number | boolean>>;

/** @throws TypeError for what is not a valid `type:id` */
export function checkObject(resource: unknown): asserts resource is string {
  if (typeof resource === "string") {
    const colon = resource.indexOf(":");
    const isType = parseResource(`${resource.slice(0, colon)}:*`).template !== undefined;
    if (colon > 0 && isType && OBJECT_IDS.allows(resource.slice(colon + 1))) return;
  }
  const shown =
    typeof resource === "string" ? JSON.stringify(resource.slice(0, 80)) : typeof resource;
  throw new TypeError(
    `${shown} is not a valid object of an audit event: write type:id, with an id of ${OBJECT_IDS.description}`,
  );
}

/** @throws TypeError that says what is wrong with an event of a handler */
export function checkRecord(record: AuditRecord): Details | undefined {
  if (typeof record !== "object" || record === null)
    throw new TypeError("an audit event must be an object");
  const { event, riskLevel, resource, details, mustBeStored } = record;
  const unknown = Object.keys(record).find((key) => !KEYS.has(key));
  if (unknown !== undefined)
    throw new TypeError(
      `an audit event has no ${JSON.stringify(unknown)}; use ${[...KEYS].join(", ")}`,
    );
  if (
    typeof event !== "string" ||
    event.length > MAX_AUDIT_EVENT_NAME ||
    !AUDIT_EVENT_NAME.test(event)
  ) {
    throw new TypeError(
      `the event of an audit event must be lower-case words joined by dots, such as session.revoke, of at most ${MAX_AUDIT_EVENT_NAME} characters`,
    );
  }
  if (riskLevel !== undefined && !RISK_LEVELS.includes(riskLevel)) {
    throw new TypeError(`riskLevel must be one of ${RISK_LEVELS.join(", ")}`);
  }
  if (mustBeStored !== undefined && typeof mustBeStored !== "boolean") {
    throw new TypeError("mustBeStored must be true or false");
  }
  if (resource !== undefined) checkObject(resource);
  return details === undefined ? undefined : safeDetails(details);
}

function safeDetails(details: unknown): Details {
  if (typeof details !== "object" || details === null || Array.isArray(details)) {
    throw new TypeError("details must be an object");
  }
  const entries = Object.entries(details as Record<string, unknown>);
  if (entries.length > MAX_DETAILS) {
    throw new TypeError(
      `details has ${entries.length} entries; at most ${MAX_DETAILS} are allowed`,
    );
  }
  return Object.fromEntries(
    entries.map(([name, value]) => [checkedName(name), safeFact(name, value)]),
  );
}

function checkedName(name: string): string {
  if (NAME.test(name)) return name;
  throw new TypeError(
    `${JSON.stringify(name.slice(0, 80))} is not a valid name in details: use a-z, 0-9 and _, at most 40 characters`,
  );
}

function safeFact(name: string, value: unknown): string | number | boolean {
  const isFact = typeof value === "string" || typeof value === "boolean" || Number.isFinite(value);
  if (!isFact) throw new TypeError(`details.${name} must be a string, a number or a boolean`);
  if (isSecretKey(name)) return REDACTED;
  return typeof value === "string" ? redactText(value) : (value as number | boolean);
}

/** An event that code of the service records. */
export interface DescribedRecord {
  readonly record: AuditRecord;
  /** Without secrets. */
  readonly details: Details | undefined;
  readonly id: string;
  readonly time: number;
  /** The id of the event of the call, if it is audited. */
  readonly callEvent: string | undefined;
  /** Who did it, outside of calls. */
  readonly principal?: AuditPrincipal | undefined;
}

/**
 * Makes the event that code of the service records.
 *
 * @param call undefined outside of calls
 */
export function describeRecord(
  source: EventSource,
  call: Call | undefined,
  { record, details, id, time, callEvent, principal }: DescribedRecord,
  maxText: number,
): AuditEvent {
  const { event, riskLevel = "LOW" } = record;
  const resource = record.resource === undefined ? undefined : safeText(record.resource, maxText);
  return {
    ...envelope(source, call, { id, time, type: event, resource }, maxText),
    data: {
      state: "completed",
      risk_level: riskLevel,
      ...(call === undefined ? outsideOfCalls(principal, maxText) : callFacts(call, maxText)),
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
