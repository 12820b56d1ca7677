import type { ProviderEvent } from "./provider-events.ts";
import { requestScope } from "./request-scope.ts";

/** Where events go that belong to no request, and what could not be stored. */
export interface EventSinks {
  readonly log: { error(fields: object, message: string): void };
  readonly onEvent?: (event: ProviderEvent) => void;
}

/**
 * Records an event in the audit of the request under way, whose response waits for it. The tokens
 * have ended, or the login has happened, whether it can be stored or not.
 */
export function recordEvent(
  { log, onEvent }: EventSinks,
  { event, riskLevel, accountId, details }: ProviderEvent,
): void {
  const scope = requestScope.getStore();
  if (scope === undefined) {
    onEvent?.({
      event,
      riskLevel,
      ...(accountId ? { accountId } : {}),
      ...(details ? { details } : {}),
    });
    return;
  }
  const resource = accountId === undefined ? {} : { resource: `user:${accountId}` };
  const stored = scope.call.audit
    .record({ event, riskLevel, ...resource, ...(details === undefined ? {} : { details }) })
    .catch((error: unknown) => log.error({ err: error, event }, "an audit event was not stored"));
  scope.pending.push(stored);
}
