import type { KoaContextWithOIDC } from "oidc-provider";
import type { AuditRecord, AuditRecorder } from "svc-access/runtime";
import { requestScope } from "./request-scope.ts";

/** Something that the provider did, for the audit. Holds no secret. */
export interface ProviderEvent {
  /** The name of the audit event. */
  readonly event:
    | "login.succeeded"
    | "second_factor.enrolled"
    | "second_factor.used"
    | "second_factor.failed"
    | "recovery_code.used"
    | "login.consented"
    | "login.logged_out"
    | "device.approved"
    | "refresh_token.reused"
    | "authorization_code.reused"
    | "device_code.reused"
    | "token.revoked"
    | "session.ended"
    | "signing_key.made"
    | "signing_key.rotated";
  /** How much harm it can do. */
  readonly riskLevel: "LOW" | "MEDIUM" | "HIGH" | "CRITICAL";
  /** The account that it is about. */
  readonly accountId?: string;
  /** Short values. */
  readonly details?: Readonly<Record<string, string | number | boolean>>;
}

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
    .catch((error: unknown) => log.error({ error, event }, "an audit event was not stored"));
  if (stored !== undefined) scope?.pending.push(stored);
}

/**
 * The details of an audit event that name the client of a request.
 *
 * @param more further details
 */
export function clientDetails(
  ctx: KoaContextWithOIDC | undefined,
  more: Readonly<Record<string, string>> = {},
): { readonly details?: Readonly<Record<string, string>> } {
  const clientId = ctx?.oidc.client?.clientId;
  const details = { ...(clientId === undefined ? {} : { client: clientId }), ...more };
  return Object.keys(details).length === 0 ? {} : { details };
}
