import { type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";
import { type AuditFilter, ServiceError } from "svc-access/runtime";
import type { AuditEventFilter } from "../../../gen/svc/iam/v1/audit_pb.ts";

/** As long as a text of an event is. */
const LONGEST = 512;

/** The values of a text, which the compiler knows all of. */
type Values<Name extends keyof AuditFilter> = Record<NonNullable<AuditFilter[Name]>, null>;
const DECISIONS: Values<"decision"> = { allowed: null, denied: null, none: null };
const STATES: Values<"state"> = { pending: null, completed: null, unknown: null };
const RISK_LEVELS: Values<"riskLevel"> = { LOW: null, MEDIUM: null, HIGH: null, CRITICAL: null };

/** How the log calls a text, how requests do, and the values that it may have, if not all. */
interface FilterText {
  readonly name: keyof AuditFilter;
  readonly sent: string;
  readonly values?: readonly string[];
}

/** The fields of the filter that are texts; an empty one selects any value. */
const TEXTS = {
  type: { name: "type", sent: "type" },
  rpc: { name: "rpc", sent: "rpc" },
  principalType: { name: "principalType", sent: "principal_type" },
  principalId: { name: "principalId", sent: "principal_id" },
  organizationId: { name: "organization", sent: "organization_id" },
  resource: { name: "resource", sent: "resource" },
  decision: { name: "decision", sent: "decision", values: Object.keys(DECISIONS) },
  state: { name: "state", sent: "state", values: Object.keys(STATES) },
  riskLevel: { name: "riskLevel", sent: "risk_level", values: Object.keys(RISK_LEVELS) },
  code: { name: "code", sent: "code" },
  requestId: { name: "requestId", sent: "request_id" },
  traceId: { name: "traceId", sent: "trace_id" },
} as const satisfies Partial<Record<keyof AuditEventFilter, FilterText>>;

/**
 * The filter of the log. The log would refuse the same, with names that callers of the API do not know.
 *
 * @throws ServiceError INVALID_ARGUMENT
 */
export function filterOf(filter: AuditEventFilter | undefined): AuditFilter {
  if (filter === undefined) return {};
  const fields: [keyof AuditFilter, string | number][] = [];
  for (const [field, text] of Object.entries<FilterText>(TEXTS)) {
    const value = filter[field as keyof typeof TEXTS];
    if (value === "") continue;
    assertText(value, text);
    fields.push([text.name, value]);
  }
  const from = millisecondsOf(filter.startTime, "start_time");
  const to = millisecondsOf(filter.endTime, "end_time");
  if (from !== undefined) fields.push(["from", from]);
  if (to !== undefined) fields.push(["to", to]);
  if (from !== undefined && to !== undefined && from > to) {
    throw invalid("filter.start_time is later than filter.end_time");
  }
  return Object.fromEntries(fields) as AuditFilter;
}

/** The refusal of a page token by the log, which has found the rest of the request valid. */
export function pageTokenRefused(cause: unknown): ServiceError {
  const message =
    "page_token is not one that this list returned for this filter: list again from the first page";
  return new ServiceError("INVALID_ARGUMENT", message, { cause });
}

function assertText(value: string, { sent, values }: FilterText): void {
  if (values !== undefined && !values.includes(value)) {
    throw invalid(`filter.${sent} must be one of ${values.join(", ")}`);
  }
  if (value.length > LONGEST || value.includes("\0")) {
    throw invalid(`filter.${sent} must have at most ${LONGEST} characters, without NUL`);
  }
}

/** The last time that a Timestamp may be (protobuf): 9999-12-31T23:59:59.999Z. */
const LAST_MS = 253_402_300_799_999;

/** Events have whole milliseconds, and none began before the epoch. */
function millisecondsOf(time: Timestamp | undefined, field: string): number | undefined {
  if (time === undefined) return undefined;
  const milliseconds = Math.ceil(timestampMs(time));
  if (milliseconds < 0) throw invalid(`filter.${field} must not be before 1970-01-01T00:00:00Z`);
  if (milliseconds > LAST_MS) throw invalid(`filter.${field} must not be after the year 9999`);
  return milliseconds;
}

function invalid(message: string): ServiceError {
  return new ServiceError("INVALID_ARGUMENT", message);
}
