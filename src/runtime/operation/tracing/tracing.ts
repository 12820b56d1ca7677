import {
  type Context,
  context,
  ProxyTracerProvider,
  type Span,
  SpanKind,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import type { Call } from "../../call/call.ts";
import type { CallObserver } from "../../chain/call-stages.ts";
import type { Interceptor } from "../../chain/interceptor.ts";
import type { ServiceError } from "../../error/service-error.ts";
import { adoptSpan, attributesAtBegin, endSpan, remoteContext } from "./call-span.ts";

/** What traces the calls of a process. */
export interface Tracing {
  /** For the chain, before all others: it sets the trace and the span of the call. */
  readonly observer: CallObserver;
  /** For the chain's place `after`, before all others: handlers run inside the span's context. */
  readonly interceptor: Interceptor;
}

/** The name of the instrumentation, as traces carry it. */
const NAME = "svc-access";

/**
 * Tracing by the provider that the process has registered with OpenTelemetry before;
 * undefined where it has none, so that calls pay nothing.
 */
export function createTracing(): Tracing | undefined {
  const tracer = registeredTracer();
  return tracer === undefined ? undefined : new CallTracing(tracer);
}

function registeredTracer(): Tracer | undefined {
  const provider = trace.getTracerProvider();
  return provider instanceof ProxyTracerProvider
    ? provider.getDelegateTracer(NAME)
    : provider.getTracer(NAME);
}

interface TracedCall {
  readonly span: Span;
  readonly context: Context;
}

class CallTracing implements Tracing {
  readonly #tracer: Tracer;
  readonly #calls = new WeakMap<object, TracedCall>();

  constructor(tracer: Tracer) {
    this.#tracer = tracer;
  }

  readonly observer: CallObserver = {
    begin: (call) => this.#begin(call),
    end: (call, error) => this.#end(call, error),
  };

  readonly interceptor: Interceptor = (call, next) => {
    const traced = this.#calls.get(call);
    return traced === undefined ? next() : inside(traced.context, next);
  };

  #begin(call: Call): void {
    const parent = remoteContext(call.headers);
    const span = this.#tracer.startSpan(
      call.rpc,
      { kind: SpanKind.SERVER, attributes: attributesAtBegin(call) },
      parent,
    );
    adoptSpan(call, span);
    this.#calls.set(call, { span, context: trace.setSpan(parent, span) });
  }

  #end(call: Call, error: ServiceError | undefined): void {
    const traced = this.#calls.get(call);
    if (traced === undefined) return;
    this.#calls.delete(call);
    endSpan(traced.span, call, error);
  }
}

async function inside(active: Context, next: () => Promise<unknown>): Promise<unknown> {
  const response = await context.with(active, next);
  return isIterator(response) ? eachInside(active, response) : response;
}

function isIterator(response: unknown): response is AsyncIterable<unknown> {
  return typeof response === "object" && response !== null && Symbol.asyncIterator in response;
}

/** Each step of a stream runs inside the context: a generator forgets where it was begun. */
function eachInside(active: Context, responses: AsyncIterable<unknown>): AsyncIterable<unknown> {
  const iterator = responses[Symbol.asyncIterator]();
  const inside: AsyncIterator<unknown> & AsyncIterable<unknown> = {
    next: () => context.with(active, () => iterator.next()),
    return: (value) =>
      context.with(active, async () => {
        return (await iterator.return?.(value)) ?? { done: true, value };
      }),
    [Symbol.asyncIterator]: () => inside,
  };
  return inside;
}
