import type { Tracer } from "@opentelemetry/api";
import type { Call } from "../../call/call.ts";
import type { CallObserver } from "../../chain/call-stages.ts";
import type { Interceptor } from "../../chain/interceptor.ts";
import type { ServiceError } from "../../error/service-error.ts";
import { adoptSpan, attributesAtBegin, endSpan, remoteContext } from "./call-span.ts";
import { httpSpanName } from "./http-attributes.ts";
import { eachInside, isAsyncIterable } from "./inside-context.ts";
import { openTelemetry } from "./open-telemetry.ts";
import { registeredTracer } from "./registered-tracer.ts";
import { tracedCalls } from "./traced-calls.ts";

/** What traces the calls of a process. */
export interface Tracing {
  /** For the chain, before all others: it sets the trace and the span of the call. */
  readonly observer: CallObserver;
  /** For the chain's place `after`, before all others: handlers run inside the span's context. */
  readonly interceptor: Interceptor;
}

/**
 * Tracing by the provider that the process has registered with OpenTelemetry before;
 * undefined where it has none, so that calls pay nothing.
 *
 * @param scheme of the HTTP server; absent where that is not known
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
  endSpan(traced.span, call, error);
}

const interceptor: Interceptor = async (call, next) => {
  const traced = tracedCalls.get(call);
  if (traced === undefined) return next();
  const response = await openTelemetry().context.with(traced.context, next);
  return isAsyncIterable(response) ? eachInside(traced.context, response) : response;
};
