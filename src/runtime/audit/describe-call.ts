import type { Call } from "../call/call.ts";
import type { CallEnd } from "../chain/call-stages.ts";
import type { ServiceError } from "../error/service-error.ts";
import type { AuditData, AuditEvent } from "./audit-event.ts";
import { safeText } from "./safe-text.ts";

/** Whose events these are. */
export interface EventSource {
  readonly service: string;
  readonly instance: string;
}

/** How a call ended, and how long it took. */
export interface Outcome {
  readonly error: ServiceError | undefined;
  readonly durationMs: number;
}

const OK = 200;

/**
 * Makes the event of a call.
 *
 * @param outcome how its handler ended; undefined while it is under way
 * @param answer what the caller was told, once the call is over for it
 */
export function describeCall(
  { service, instance }: EventSource,
  call: Call,
  id: string,
  time: number,
  outcome: Outcome | undefined,
  answer?: CallEnd,
): AuditEvent {
  const { audit } = call.method.policy;
  if (audit === undefined) throw new Error(`${call.rpc} has no audit`);
  const resource = call.resource === undefined ? undefined : safeText(call.resource);
  return {
    specversion: "1.0",
    id,
    source: `/svc/${service}`,
    type: audit.event,
    ...(resource === undefined ? {} : { subject: resource }),
    time: new Date(time).toISOString(),
    datacontenttype: "application/json",
    ...(call.traceId === "" || call.spanId === ""
      ? {}
      : { traceparent: `00-${call.traceId}-${call.spanId}-${call.isSampled ? "01" : "00"}` }),
    data: {
      state: outcome === undefined ? "pending" : "completed",
      risk_level: audit.riskLevel,
      ...principalOf(call),
      rpc: call.rpc,
      transport: call.transport,
      ...(resource === undefined ? {} : { resource }),
      decision: call.decision ?? "none",
      ...outcomeOf(outcome),
      ...(answer === undefined ? {} : answerOf(call, outcome, answer)),
      request_id: safeText(call.requestId),
      ...(call.traceId === "" ? {} : { trace_id: call.traceId }),
      client_address: safeText(call.clientAddress),
      ...(call.peer.address === call.clientAddress
        ? {}
        : { peer_address: safeText(call.peer.address) }),
      instance,
    },
  };
}

function principalOf({ principal }: Call): Pick<AuditData, "principal"> {
  if (principal === undefined) return {};
  const { subjectType, subjectId, source, organizationId } = principal;
  return {
    principal: {
      type: safeText(subjectType),
      id: safeText(subjectId),
      source,
      ...(organizationId === "" ? {} : { organization: safeText(organizationId) }),
    },
  };
}

/** Neither message nor details of an error: a handler may have put anything into them. */
function outcomeOf(
  outcome: Outcome | undefined,
): Pick<AuditData, "status" | "code" | "duration_ms"> {
  if (outcome === undefined) return {};
  return { ...endOf(outcome.error), duration_ms: Math.round(outcome.durationMs * 1000) / 1000 };
}

function answerOf(
  call: Call,
  outcome: Outcome | undefined,
  { error }: CallEnd,
): Pick<AuditData, "answered" | "caller_gone"> {
  if (call.abortReason?.code === "CANCELLED") return { caller_gone: true };
  if (outcome !== undefined && outcome.error?.code === error?.code) return {};
  return { answered: endOf(error) };
}

function endOf(error: ServiceError | undefined): { status: number; code: string } {
  if (error === undefined) return { status: OK, code: "OK" };
  return { status: error.status, code: safeText(error.code) };
}
