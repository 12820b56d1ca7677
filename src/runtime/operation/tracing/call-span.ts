import type { Attributes, Context, Span, TextMapGetter } from "@opentelemetry/api";
import type { Call } from "../../call/call.ts";
import { type CallHeaders, single } from "../../call/call-headers.ts";
import type { ServiceError } from "../../error/service-error.ts";
import { redactText } from "../redaction/redact-text.ts";
import { endOfHttp, httpAttributes } from "./http-attributes.ts";
import { openTelemetry } from "./open-telemetry.ts";
import { endOfRpc, rpcAttributes } from "./rpc-attributes.ts";

/** Headers that may come in several pieces, which stand for one list. */
const LISTS: ReadonlySet<string> = new Set(["tracestate", "baggage"]);

const HEADERS: TextMapGetter<CallHeaders> = {
  keys: (headers) => [...headers.names()],
  get(headers, name) {
    const lower = name.toLowerCase();
    return LISTS.has(lower) ? [...headers.all(lower)] : single(headers, lower);
  },
};

/** The context of the caller's span, as the registered propagator reads it; the root where it sent none. */
export function remoteContext(headers: CallHeaders): Context {
  const { propagation, ROOT_CONTEXT } = openTelemetry();
  return propagation.extract(ROOT_CONTEXT, headers, HEADERS);
}

/** What is known of a call when it begins, by OpenTelemetry's semantic conventions. */
export function attributesAtBegin(call: Call): Attributes {
  const { method, transport, peer } = call;
  const attributes: Attributes = { "network.peer.address": peer.address };
  if (method.descriptor !== undefined) attributes["rpc.method"] = method.rpc;
  return Object.assign(
    attributes,
    transport === "http" ? httpAttributes(call) : rpcAttributes(transport),
  );
}

/** Writes what became of a call to its span, and ends that. */
export function endSpan(span: Span, call: Call, error: ServiceError | undefined): void {
  const { attributes, errorType } =
    call.transport === "http" ? endOfHttp(call, error) : endOfRpc(call.transport, error);
  span.setAttributes(attributes);
  if (call.clientAddress !== "") span.setAttribute("client.address", call.clientAddress);
  if (error !== undefined) span.setAttribute("svc_access.code", error.code);
  if (errorType !== undefined) {
    span.setAttribute("error.type", errorType);
    span.setStatus({ code: openTelemetry().SpanStatusCode.ERROR });
  }
  if (error?.code === "INTERNAL" && error.cause instanceof Error) {
    const { name, message, stack = "" } = error.cause;
    span.recordException({ name, message: redactText(message), stack: redactText(stack) });
  }
  span.end();
}

/** Makes the call part of the trace of its span. */
export function adoptSpan(call: Call, span: Span): void {
  const { trace, TraceFlags } = openTelemetry();
  const { traceId, spanId, traceFlags } = span.spanContext();
  if (!trace.isSpanContextValid(span.spanContext())) return;
  call.traceId = traceId;
  call.spanId = spanId;
  call.isSampled = (traceFlags & TraceFlags.SAMPLED) !== 0;
}
