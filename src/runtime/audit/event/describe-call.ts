import { formatResource } from "../../../api/resource.ts";
import { type BoundMethod, streamsRequest } from "../../binding/bound-method.ts";
import type { Call } from "../../call/call.ts";
import type { Principal } from "../../call/call-context.ts";
import type { CallEnd } from "../../chain/call-stages.ts";
import type { ServiceError } from "../../error/service-error.ts";
import { resourceId } from "../../resource/resource-id.ts";
import {
  type AuditData,
  type AuditEvent,
  type AuditPrincipal,
  MAX_TEXT,
  safeText,
} from "./audit-event.ts";

/** The service and process of the events. */
export interface EventSource {
  readonly service: string;
  readonly instance: string;
}

/** How a call ended, and how long it took. */
export interface Outcome {
  readonly error: ServiceError | undefined;
  /** Whether the handler's stream was left before its end. */
  readonly isCutOff?: boolean;
  readonly durationMs: number;
}

/** Further input of an event, besides the outcome of the handler. */
export interface CallDescription {
  /** The response to the caller, once the call is over for it. */
  readonly answer?: CallEnd | undefined;
  /** The object that the call is about; the one that was authorized if absent. */
  readonly resource?: string | undefined;
  /** The most UTF-16 units of a text. */
  readonly maxText?: number;
}

const OK = 200;

/**
 * Makes the event of a call.
 *
 * @param outcome how its handler ended; undefined while it is under way
 */
export function describeCall(
  source: EventSource,
  call: Call,
  id: string,
  time: number,
  outcome: Outcome | undefined,
  { answer, resource = call.resource, maxText = MAX_TEXT }: CallDescription = {},
): AuditEvent {
  const { audit } = call.method.policy;
  if (audit === undefined) throw new Error(`${call.rpc} has no audit`);
  const object = resource === undefined ? undefined : safeText(resource, maxText);
  return {
    ...envelope(source, call, { id, time, type: audit.event, resource: object }, maxText),
    data: {
      state: outcome === undefined ? "pending" : "completed",
      risk_level: audit.riskLevel,
      ...callFacts(call, maxText),
      ...(object === undefined ? {} : { resource: object }),
      decision: call.decision ?? "none",
      ...authzOf(call, maxText),
      ...(outcome === undefined ? {} : outcomeOf(call, outcome)),
      ...(answer === undefined ? {} : answerOf(call, outcome, answer)),
      instance: safeText(source.instance, maxText),
    },
  };
}

/** All of an event but its data. */
export function envelope(
  { service }: EventSource,
  call: Call | undefined,
  event: { id: string; time: number; type: string; resource: string | undefined },
  maxText: number,
): Omit<AuditEvent, "data"> {
  const { id, time, type, resource } = event;
  return {
    specversion: "1.0",
    id,
    source: `/svc/${safeText(service, maxText)}`,
    type: safeText(type, Math.max(maxText, 128)),
    ...(resource === undefined ? {} : { subject: resource }),
    time: new Date(time).toISOString(),
    datacontenttype: "application/json",
    ...(call === undefined || call.traceId === "" || call.spanId === ""
      ? {}
      : { traceparent: `00-${call.traceId}-${call.spanId}-${call.isSampled ? "01" : "00"}` }),
  };
}

type CallFacts = Pick<
  AuditData,
  "principal" | "rpc" | "transport" | "request_id" | "trace_id" | "client_address" | "peer_address"
>;

/** The same outside of calls. */
export function outsideOfCalls(principal: AuditPrincipal | undefined, maxText: number): CallFacts {
  const none = { rpc: "", request_id: "", client_address: "" };
  return principal === undefined ? none : { principal: safePrincipal(principal, maxText), ...none };
}

/** Who called what, and from where. */
export function callFacts(call: Call, maxText: number): CallFacts {
  return {
    ...principalOf(call, maxText),
    rpc: safeText(call.rpc, Math.max(maxText, 256)),
    transport: call.transport,
    request_id: safeText(call.requestId, maxText),
    ...(call.traceId === "" ? {} : { trace_id: call.traceId }),
    client_address: safeText(call.clientAddress, maxText),
    ...(call.peer.address === call.clientAddress
      ? {}
      : { peer_address: safeText(call.peer.address, maxText) }),
  };
}

function principalOf({ principal }: Call, maxText: number): Pick<AuditData, "principal"> {
  if (principal === undefined) return {};
  const { subjectType: type, subjectId: id, source, organizationId: organization } = principal;
  return { principal: safePrincipal({ type, id, source, organization }, maxText) };
}

function safePrincipal(
  { type, id, source, organization = "" }: AuditPrincipal,
  maxText: number,
): AuditPrincipal {
  return {
    type: safeText(type, maxText),
    id: safeText(id, maxText),
    source: safeText(source, maxText),
    ...(organization === "" ? {} : { organization: safeText(organization, maxText) }),
  };
}

/** The question that was decided; with `dev_allow_all` there is none. */
function authzOf(call: Call, maxText: number): Pick<AuditData, "authz"> {
  const { principal, decision, resource, revision } = call;
  const { authz } = call.method.policy;
  if (authz === undefined || principal === undefined || decision === undefined) return {};
  if (resource === undefined && decision === "allowed") return {};
  const { subjectType, subjectId } = principal;
  return {
    authz: {
      subject: safeText(`${subjectType}:${subjectId}`, maxText),
      action: safeText(authz.action, maxText),
      // If the caller lacks the field that the pattern names, there is only the pattern.
      resource: safeText(resource ?? formatResource(authz.resource), maxText),
      ...(revision === undefined ? {} : { revision: safeText(revision, maxText) }),
      ...(subjectType === authz.audience ? {} : { audience: safeText(authz.audience, maxText) }),
      decision,
    },
  };
}

function outcomeOf(
  call: Call,
  { error, isCutOff, durationMs }: Outcome,
): Pick<AuditData, "status" | "code" | "cut_off" | "duration_ms"> {
  return {
    ...endOf(call, error),
    ...(isCutOff === true ? { cut_off: true } : {}),
    duration_ms: Math.round(durationMs * 1000) / 1000,
  };
}

function answerOf(
  call: Call,
  outcome: Outcome | undefined,
  { error }: CallEnd,
): Pick<AuditData, "answered" | "caller_gone"> {
  if (call.abortReason?.code === "CANCELLED") return { caller_gone: true };
  if (outcome !== undefined && outcome.error?.code === error?.code) return {};
  return { answered: endOf(call, error) };
}

/** Neither message nor details of an error: a handler may have put anything into them. */
function endOf(call: Call, error: ServiceError | undefined): { status: number; code: string } {
  if (error !== undefined) return { status: error.status, code: safeText(error.code, 64) };
  // For an RPC the adapter may have set it since, for its response to the caller; for a raw handler that has
  // succeeded, an interceptor may have replaced its response.
  const isOfHandler = call.method.kind === "raw" && call.responseStatus < 400;
  return { status: isOfHandler ? call.responseStatus : OK, code: "OK" };
}

/** Names the object that a call is about; undefined if the call names none. */
export type AuditedObject = (call: Call) => string | undefined;

/**
 * Creates the function that renders `audit.resource` of a method; undefined if it has none. An
 * absent field, or a value that is not a valid object id, leaves the event without an object: audit
 * never fails a call.
 *
 * @throws Error that says why the resource can never be rendered
 */
export function auditedObject(method: BoundMethod): AuditedObject | undefined {
  const resource = method.policy.audit?.resource;
  if (resource === undefined) return undefined;
  const { type } = resource;
  const input = streamsRequest(method.kind) ? undefined : method.descriptor?.input;
  const id = resourceId(resource, input);
  if (id === undefined) return () => `${type}:*`;
  return ({ request, principal }) => {
    try {
      // Without either, reading a field throws, as for any other absent field.
      return `${type}:${id(request, principal as Principal)}`;
    } catch {
      return undefined;
    }
  };
}
