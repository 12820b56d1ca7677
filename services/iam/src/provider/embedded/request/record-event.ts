import type { AuditRecord, AuditRecorder } from "svc-access/runtime";
import type { ProviderEvent } from "./provider-events.ts";
import { requestScope } from "./request-scope.ts";

/** Where events go that belong to no request, and what could not be stored. */
export interface EventSinks {
  readonly log: { error(fields: object, message: string): void };
  readonly audit?: Pick<AuditRecorder, "record">;
}

/**
 * Records an event in the audit of the request under way, whose response waits for it; outside of
 * requests, such as in a job, in that of the process. The tokens have ended, or the login has
 * happened, whether it can be stored or not.
 */
export function recordEvent(
  { log, audit }: EventSinks,
  { event, riskLevel, accountId, details }: ProviderEvent,
): void {
  const record: AuditRecord = {
    event,
    riskLevel,
    ...(accountId ? { resource: `user:${accountId}` } : {}),
    ...(details === undefined ? {} : { details }),
  };
  const scope = requestScope.getStore();
  const sink = scope?.call.audit ?? audit;
  const stored = sink
    ?.record(record)
    .catch((error: unknown) => log.error({ err: error, event }, "an audit event was not stored"));
  if (stored !== undefined) scope?.pending.push(stored);
}
