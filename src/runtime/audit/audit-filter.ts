import { createHash } from "node:crypto";
import { RISK_LEVELS } from "../../api/policy.ts";
import { ServiceError } from "../error/service-error.ts";
import type { AuditDecision, AuditState, RiskLevel } from "./audit-event.ts";
import { MAX_TEXT } from "./safe-text.ts";

/** Which events are meant: those that match every field that is given. */
export interface AuditFilter {
  /** From when on, in milliseconds since the epoch. */
  readonly from?: number;
  /** Up to when, exclusively. */
  readonly to?: number;
  /** The event's type. */
  readonly type?: string;
  readonly rpc?: string;
  readonly principalType?: string;
  readonly principalId?: string;
  readonly organization?: string;
  /** `type:id`. */
  readonly resource?: string;
  readonly decision?: AuditDecision;
  readonly state?: AuditState;
  readonly riskLevel?: RiskLevel;
  /** The code of the answer, such as `OK` or `FORBIDDEN`. */
  readonly code?: string;
  readonly requestId?: string;
  readonly traceId?: string;
}

/** The columns that a field of the filter is equal to. */
export const EQUAL_COLUMNS = {
  type: "type",
  rpc: "rpc",
  principalType: "principal_type",
  principalId: "principal_id",
  organization: "organization",
  resource: "resource",
  decision: "decision",
  riskLevel: "risk_level",
  code: "code",
  requestId: "request_id",
  traceId: "trace_id",
} as const satisfies Partial<Record<keyof AuditFilter, string>>;

const VALUES: Readonly<Partial<Record<keyof AuditFilter, readonly string[]>>> = {
  decision: ["allowed", "denied", "none"],
  state: ["pending", "completed", "unknown"],
  riskLevel: RISK_LEVELS,
};

const TEXTS = [...Object.keys(EQUAL_COLUMNS), "state"] as (keyof AuditFilter)[];

/** Refuses a filter that can never be right. @throws ServiceError INVALID_ARGUMENT */
export function checkFilter(filter: AuditFilter): void {
  for (const name of ["from", "to"] as const) {
    const time = filter[name];
    if (time === undefined || (Number.isSafeInteger(time) && time >= 0)) continue;
    throw invalid(`${name} is a time in whole milliseconds since the epoch`);
  }
  if (filter.from !== undefined && filter.to !== undefined && filter.from > filter.to) {
    throw invalid("from is later than to");
  }
  for (const name of TEXTS) {
    const text: unknown = filter[name];
    if (text === undefined) continue;
    const values = VALUES[name];
    if (values !== undefined && !values.includes(text as string)) {
      throw invalid(`${name} is one of ${values.join(", ")}`);
    }
    // PostgreSQL takes no NUL.
    if (typeof text !== "string" || text.length > MAX_TEXT || text.includes("\0")) {
      throw invalid(`${name} is a text of at most ${MAX_TEXT} characters`);
    }
  }
}

/** A hash of what is asked for: a cursor is of use for the same filter only. */
export function filterHash(filter: AuditFilter): string {
  const fields = (["from", "to", ...TEXTS] as const).map((name) => filter[name]);
  return createHash("sha256").update(JSON.stringify(fields)).digest("base64url").slice(0, 22);
}

/** The refusal of a query. */
export function invalid(message: string): ServiceError {
  return new ServiceError("INVALID_ARGUMENT", message);
}
