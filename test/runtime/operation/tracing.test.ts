import { AsyncLocalStorage } from "node:async_hooks";
import {
  type Attributes,
  type Context,
  type ContextManager,
  context,
  propagation,
  ROOT_CONTEXT,
  type Span,
  type SpanStatus,
  type TracerProvider,
  trace,
} from "@opentelemetry/api";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ServiceError } from "../../../src/runtime/error/service-error.ts";
import { createTracing } from "../../../src/runtime/operation/tracing/tracing.ts";
import { callOf, headersOf, methodOf } from "./calls.ts";

/** A span that remembers, since the SDK is not among the dependencies. */
interface RecordedSpan {
  readonly name: string;
  readonly parent: string | undefined;
  readonly attributes: Attributes;
  readonly exceptions: unknown[];
  status?: SpanStatus;
  ended: boolean;
}

let spans: RecordedSpan[] = [];

const provider: TracerProvider = {
  getTracer: () => ({
    startSpan(name, options = {}, parent = ROOT_CONTEXT) {
      const remote = trace.getSpanContext(parent);
      const recorded: RecordedSpan = {
        name,
        parent: remote?.spanId,
        attributes: { ...options.attributes },
        exceptions: [],
        ended: false,
      };
      spans.push(recorded);
      const spanContext = {
        traceId: remote?.traceId ?? "a".repeat(32),
        spanId: String(spans.length).padStart(16, "b"),
        traceFlags: 1,
      };
      const span = {
        spanContext: () => spanContext,
        setAttribute(key: string, value: string) {
          recorded.attributes[key] = value;
        },
        setStatus(status: SpanStatus) {
          recorded.status = status;
        },
        recordException: (exception: unknown) => void recorded.exceptions.push(exception),
        end() {
          recorded.ended = true;
        },
      };
      return span as unknown as Span;
    },
    startActiveSpan() {
      throw new Error("not used");
    },
  }),
};

class Contexts implements ContextManager {
  readonly #storage = new AsyncLocalStorage<Context>();
  active() {
    return this.#storage.getStore() ?? ROOT_CONTEXT;
  }
  with(active: Context, run: (...args: any[]) => any, self?: unknown, ...args: any[]) {
    return this.#storage.run(active, () => run.apply(self, args));
  }
  bind<T>(_active: Context, target: T) {
    return target;
  }
  enable() {
    return this;
  }
  disable() {
    return this;
  }
}

beforeEach(() => {
  spans = [];
  trace.setGlobalTracerProvider(provider);
  context.setGlobalContextManager(new Contexts());
  propagation.setGlobalPropagator({
    inject: () => undefined,
    fields: () => ["traceparent"],
    extract(into, carrier, getter) {
      const sent = getter.get(carrier, "traceparent");
      const [, traceId, spanId] = (typeof sent === "string" ? sent : "").split("-");
      if (traceId === undefined || spanId === undefined) return into;
      return trace.setSpanContext(into, { traceId, spanId, traceFlags: 1, isRemote: true });
    },
  });
});
afterEach(() => {
  trace.disable();
  context.disable();
  propagation.disable();
});

test("there is none where no provider is registered", () => {
  trace.disable();
  expect(createTracing()).toBeUndefined();
});

test("a call has a span below that of its caller, whose ids it takes", () => {
  const tracing = createTracing();
  const traceId = "0af7651916cd43dd8448eb211c80319c";
  const headers = headersOf({ traceparent: `00-${traceId}-b7ad6b7169203331-01` });
  const call = callOf({ headers });
  tracing?.observer.begin?.(call);
  expect(call.traceId).toBe(traceId);
  expect(call.spanId).toBe("bbbbbbbbbbbbbbb1");
  call.clientAddress = "203.0.113.7";
  tracing?.observer.end(call, undefined);
  expect(spans).toEqual([
    {
      name: "hub.v1.HubService/Get",
      parent: "b7ad6b7169203331",
      attributes: {
        "network.peer.address": "10.0.0.1",
        "client.address": "203.0.113.7",
        "http.request.method": "GET",
        "url.path": "/v1/hub/get",
        "http.response.status_code": 200,
      },
      exceptions: [],
      ended: true,
    },
  ]);
});

test("a call without a caller's trace begins one", () => {
  const call = callOf();
  createTracing()?.observer.begin?.(call);
  expect(call.traceId).toBe("a".repeat(32));
  expect(spans[0]?.parent).toBeUndefined();
});

test.each([
  ["grpc", "FORBIDDEN", undefined, 7],
  ["grpc", "UNAVAILABLE", 2, 14],
  ["http", "RESOURCE_NOT_FOUND", undefined, 404],
  ["http", "DEADLINE_EXCEEDED", 2, 504],
] as const)("over %s %s has the status %s", (transport, code, spanStatus, status) => {
  const tracing = createTracing();
  const method = methodOf({ descriptor: {} as never });
  const call = callOf({ transport, method });
  tracing?.observer.begin?.(call);
  tracing?.observer.end(call, new ServiceError(code));
  const [span] = spans;
  const key = transport === "grpc" ? "rpc.grpc.status_code" : "http.response.status_code";
  expect(span?.attributes).toMatchObject({
    [key]: status,
    "error.type": code,
    "rpc.service": "hub.v1.HubService",
    "rpc.method": "Get",
  });
  expect(span?.status?.code).toBe(spanStatus);
});

test("what failed inside is recorded without secrets", () => {
  const tracing = createTracing();
  const call = callOf();
  tracing?.observer.begin?.(call);
  const cause = new Error("password=SECRET");
  tracing?.observer.end(call, new ServiceError("INTERNAL", undefined, { cause }));
  expect(spans[0]?.exceptions).toHaveLength(1);
  expect(JSON.stringify(spans)).not.toContain("SECRET");
});

test("handlers run inside the span's context, streams at each step", async () => {
  const tracing = createTracing();
  const call = callOf();
  tracing?.observer.begin?.(call);
  const inside = () => trace.getSpanContext(context.active())?.spanId;
  const answer = await tracing?.interceptor(call, async () => {
    await Promise.resolve();
    return inside();
  });
  expect(answer).toBe(call.spanId);
  const closed: unknown[] = [];
  const stream = (await tracing?.interceptor(call, async () =>
    (async function* () {
      try {
        yield inside();
        yield inside();
      } finally {
        closed.push(inside());
      }
    })(),
  )) as AsyncIterable<unknown>;
  for await (const step of stream) {
    expect(step).toBe(call.spanId);
    break;
  }
  expect(closed).toEqual([call.spanId]);
  expect(inside()).toBeUndefined();
});

test("a call that was not begun is passed through", async () => {
  const tracing = createTracing();
  expect(await tracing?.interceptor(callOf(), async () => 1)).toBe(1);
  expect(() => tracing?.observer.end(callOf(), undefined)).not.toThrow();
});
