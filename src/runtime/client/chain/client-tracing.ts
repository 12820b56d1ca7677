import type { Attributes, Context, Span, TextMapSetter } from "@opentelemetry/api";
import { streamsResponse } from "../../binding/bound-method.ts";
import { ServiceError } from "../../error/service-error.ts";
import {
  eachInside,
  openTelemetry,
  registeredTracer,
  tracedCalls,
} from "../../observers/tracing/open-telemetry.ts";
import { rpcAttributes, statusName } from "../../observers/tracing/span-attributes.ts";
import type { ClientCall, ClientInterceptor } from "../call/client-call.ts";

/** Where a client calls. */
export interface ClientTarget {
  readonly address: string;
  readonly port?: number;
}

/** A URL, or a target of gRPC: `host:port`, perhaps after a scheme such as `dns:///`. */
const TARGET =
  /^(?:[a-z][a-z0-9+.-]*:\/{2,3}(?:[^/@]*@)?)?(\[[^\]]+\]|[^:/]*)(?::([0-9]{1,5}))?(?:\/.*)?$/i;

/** Parses the target of a client, without secrets that a URL may contain. */
export function clientTargetOf(target: string): ClientTarget {
  const [, host = "", port] = TARGET.exec(target) ?? [];
  const address = host.replace(/^\[|\]$/g, "");
  if (port !== undefined) return { address, port: Number(port) };
  if (/^https:/i.test(target)) return { address, port: 443 };
  return /^http:/i.test(target) ? { address, port: 80 } : { address };
}

const HEADERS: TextMapSetter<Map<string, string>> = {
  set: (headers, name, value) => void headers.set(name.toLowerCase(), value),
};

/**
 * Makes each call of a client a span, which is the parent of the server's. It runs after the stage
 * that sets the trace. Undefined if the process has registered no provider.
 */
export function createClientTracing(target: ClientTarget): ClientInterceptor | undefined {
  const tracer = registeredTracer();
  if (tracer === undefined) return undefined;
  const { context, propagation, SpanKind, trace } = openTelemetry();
  return async (call, next) => {
    const parent = parentOf(call);
    const attributes = attributesOf(call, target);
    const span = tracer.startSpan(call.rpc, { kind: SpanKind.CLIENT, attributes }, parent);
    const inside = trace.setSpan(parent, span);
    propagation.inject(inside, call.headers, HEADERS);
    try {
      const response = await context.with(inside, next);
      if (!streamsResponse(call.method.methodKind)) endSpan(span, call);
      else return followed(span, call, eachInside(inside, response as AsyncIterable<unknown>));
      return response;
    } catch (error) {
      endSpan(span, call, error);
      throw error;
    }
  };
}

/** The span that is active; where that is of another trace, the call that is being served. */
function parentOf({ options }: ClientCall): Context {
  const { context, trace } = openTelemetry();
  const active = context.active();
  const served = options.context;
  if (served === undefined) return active;
  if (trace.getSpanContext(active)?.traceId === served.traceId) return active;
  return tracedCalls.get(served)?.context ?? active;
}

function attributesOf(call: ClientCall, { address, port }: ClientTarget): Attributes {
  return {
    "rpc.method": call.rpc,
    "server.address": address,
    ...(port === undefined ? {} : { "server.port": port }),
    ...(call.transport === "grpc" ? rpcAttributes("grpc") : {}),
  };
}

/** The span of a stream ends when that is read to its end, fails, or is left. */
async function* followed(
  span: Span,
  call: ClientCall,
  responses: AsyncIterable<unknown>,
): AsyncGenerator<unknown> {
  let failure: unknown = new ServiceError("CANCELLED");
  try {
    yield* responses;
    failure = undefined;
  } catch (error) {
    failure = error;
    throw error;
  } finally {
    endSpan(span, call, failure);
  }
}

/** For a client every error is one. The caller decides whether to record the message. */
function endSpan(span: Span, { transport }: ClientCall, failure?: unknown): void {
  const error = failure instanceof ServiceError ? failure : undefined;
  if (transport === "grpc") {
    const name = failure === undefined ? "OK" : statusName(error?.grpcStatus ?? -1);
    span.setAttribute("rpc.response.status_code", name);
  } else if (error?.isRemote === true) {
    span.setAttribute("http.response.status_code", error.status);
  }
  if (failure !== undefined) {
    span.setAttribute("error.type", error?.code ?? "_OTHER");
    span.setStatus({ code: openTelemetry().SpanStatusCode.ERROR });
  }
  span.end();
}
