import type { Attributes, Context, Span, TextMapGetter, Tracer } from "@opentelemetry/api";
import { streamsResponse } from "../../binding/bound-method.ts";
import type { Call } from "../../call/call.ts";
import { type CallHeaders, single } from "../../call/call-headers.ts";
import type { CallObserver } from "../../chain/call-stages.ts";
import type { Interceptor } from "../../chain/interceptor.ts";
import type { ServiceError } from "../../error/service-error.ts";
import { redactText } from "../../logging/redaction/redact-text.ts";
import {
  eachInside,
  isAsyncIterable,
  openTelemetry,
  registeredTracer,
  tracedCalls,
} from "./open-telemetry.ts";
import {
  endOfHttp,
  endOfRpc,
  httpAttributes,
  httpSpanName,
  rpcAttributes,
} from "./span-attributes.ts";

/** Traces the calls of a process. */
export interface Tracing {
  /** For the chain, before all others: it sets the trace and the span of the call. */
  readonly observer: CallObserver;
  /** For the chain's place `after`, before all others: handlers run inside the span's context. */
  readonly interceptor: Interceptor;
}

/**
 * Tracing by the provider that the process has registered with OpenTelemetry before;
 * undefined if it has none, so that calls pay nothing.
 *
 * @param scheme of the HTTP server; absent if that is not known
 */
export function createTracing(scheme?: "http" | "https"): Tracing | undefined {
  const tracer = registeredTracer();
  if (tracer === undefined) return undefined;
  return { observer: { begin: (call) => begin(tracer, call, scheme), end }, interceptor };
}

function begin(tracer: Tracer, call: Call, scheme: string | undefined): void {
  const { SpanKind, trace } = openTelemetry();
  const parent = remoteContext(call.headers);
  const isHttp = call.transport === "http";
  const name = isHttp ? httpSpanName(call) : call.rpc;
  const attributes = attributesAtBegin(call);
  if (isHttp && scheme !== undefined) attributes["url.scheme"] = scheme;
  const span = tracer.startSpan(name, { kind: SpanKind.SERVER, attributes }, parent);
  adoptSpan(call, span);
  tracedCalls.set(call, { span, context: trace.setSpan(parent, span) });
}

function end(call: Call, error: ServiceError | undefined): void {
  const traced = tracedCalls.get(call);
  if (traced === undefined) return;
  tracedCalls.delete(call);
  const over = () => endSpan(traced.span, call, error);
  // Only then is it known which status the caller gets.
  if (call.isUnanswered && !streamsResponse(call.method.kind)) call.onAnswered = over;
  else over();
}

const interceptor: Interceptor = async (call, next) => {
  const traced = tracedCalls.get(call);
  if (traced === undefined) return next();
  const response = await openTelemetry().context.with(traced.context, next);
  return isAsyncIterable(response) ? eachInside(traced.context, response) : response;
};

/** Headers that may come in several pieces, which form one list. */
const LISTS: ReadonlySet<string> = new Set(["tracestate", "baggage"]);

const HEADERS: TextMapGetter<CallHeaders> = {
  keys: (headers) => [...headers.names()],
  get(headers, name) {
    const lower = name.toLowerCase();
    return LISTS.has(lower) ? [...headers.all(lower)] : single(headers, lower);
  },
};

/** The context of the caller's span, as the registered propagator reads it; the root where it sent none. */
function remoteContext(headers: CallHeaders): Context {
  const { propagation, ROOT_CONTEXT } = openTelemetry();
  return propagation.extract(ROOT_CONTEXT, headers, HEADERS);
}

/** The attributes of a call at its begin, by OpenTelemetry's semantic conventions. */
function attributesAtBegin(call: Call): Attributes {
  const { method, transport, peer } = call;
  const attributes: Attributes = { "network.peer.address": peer.address };
  if (method.descriptor !== undefined) attributes["rpc.method"] = method.rpc;
  return Object.assign(
    attributes,
    transport === "http" ? httpAttributes(call) : rpcAttributes(transport),
  );
}

/** Writes the outcome of a call to its span, and ends the span. */
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
function adoptSpan(call: Call, span: Span): void {
  const { trace, TraceFlags } = openTelemetry();
  const { traceId, spanId, traceFlags } = span.spanContext();
  if (!trace.isSpanContextValid(span.spanContext())) return;
  call.traceId = traceId;
  call.spanId = spanId;
  call.isSampled = (traceFlags & TraceFlags.SAMPLED) !== 0;
}
