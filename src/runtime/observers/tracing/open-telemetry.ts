import { createRequire } from "node:module";
import type { Context, Span, Tracer } from "@opentelemetry/api";

/** By which all copies of OpenTelemetry's API find what is registered. */
const REGISTERED = Symbol.for("opentelemetry.js.api.1");

type OpenTelemetry = typeof import("@opentelemetry/api");

let api: OpenTelemetry | undefined;

/** Whether anything is registered with OpenTelemetry, by any copy of its API. */
function isRegistered(): boolean {
  return REGISTERED in globalThis;
}

/**
 * OpenTelemetry's API. It is a hundred files, so it is loaded only where something is registered: who
 * did that has loaded it.
 */
export function openTelemetry(): OpenTelemetry {
  api ??= createRequire(import.meta.url)("@opentelemetry/api") as OpenTelemetry;
  return api;
}

/** The name of the instrumentation, as traces carry it. */
const NAME = "svc-access";

/** A tracer of the provider that the process has registered before; undefined if it has none. */
export function registeredTracer(): Tracer | undefined {
  if (!isRegistered()) return undefined;
  const { ProxyTracerProvider, trace } = openTelemetry();
  const provider = trace.getTracerProvider();
  return provider instanceof ProxyTracerProvider
    ? provider.getDelegateTracer(NAME)
    : provider.getTracer(NAME);
}

/** The span of a call that is being served, and the context in which its handler runs. */
export interface TracedCall {
  readonly span: Span;
  readonly context: Context;
}

/** The traced calls under way, by their `CallContext`: the spans of clients are children of the call that they are given. */
export const tracedCalls = new WeakMap<object, TracedCall>();

/** Whether a response is a stream of messages, by what it is. */
export function isAsyncIterable(response: unknown): response is AsyncIterable<unknown> {
  return typeof response === "object" && response !== null && Symbol.asyncIterator in response;
}

/** Each step of a stream runs inside the context: a generator forgets where it was begun. */
export function eachInside(
  active: Context,
  responses: AsyncIterable<unknown>,
): AsyncIterable<unknown> {
  const { context } = openTelemetry();
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
