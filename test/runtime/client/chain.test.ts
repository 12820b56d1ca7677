import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { CallContext } from "../../../src/runtime/call-context.ts";
import type { ClientCall, ClientInterceptor } from "../../../src/runtime/client/client-call.ts";
import { markUnsent } from "../../../src/runtime/client/unsent.ts";
import type { ErrorCode } from "../../../src/runtime/error/error-codes.ts";
import { ServiceError } from "../../../src/runtime/error/service-error.ts";
import { fakeClient } from "./support/fake-transport.ts";

const unavailable = () => new ServiceError("UNAVAILABLE");
const fast = { initialDelayMs: 1, maxDelayMs: 2 };

function contextOf(given: Partial<CallContext> & { spanId?: string } = {}): CallContext {
  return {
    rpc: "a.B/C",
    principal: undefined,
    requestId: "r-1",
    traceId: "0af7651916cd43dd8448eb211c80319c",
    clientAddress: "",
    deadline: Date.now() + 60_000,
    signal: new AbortController().signal,
    setResponseHeader() {},
    ...given,
  };
}

/** Fails in turn with these, then answers. */
function failing(...errors: ServiceError[]) {
  return (_call: ClientCall, attempt: number) => {
    const error = errors[attempt];
    if (error !== undefined) throw error;
    return { text: "done" };
  };
}

describe("retry: never", () => {
  test.each<[string, ErrorCode]>([
    ["a refusal", "FORBIDDEN"],
    ["a wrong request", "INVALID_ARGUMENT"],
    ["a rate limit", "RATE_LIMITED"],
    ["a defect", "INTERNAL"],
    ["a passed deadline", "DEADLINE_EXCEEDED"],
  ])("after %s", async (_name, code) => {
    const { client, calls } = fakeClient(failing(new ServiceError(code)), { retry: fast });
    await expect(client.echo({})).rejects.toMatchObject({ code });
    expect(calls.length).toBe(1);
  });

  test("a call that may change something, and may have been received", async () => {
    const { client, calls } = fakeClient(failing(unavailable()), { retry: fast });
    await expect(client.write({})).rejects.toMatchObject({ code: "UNAVAILABLE" });
    expect(calls.length).toBe(1);
  });

  test("streams", async () => {
    const { client, calls } = fakeClient(failing(markUnsent(unavailable())), { retry: fast });
    const requests = (async function* () {})();
    await expect(client.collect(requests)).rejects.toMatchObject({ code: "UNAVAILABLE" });
    expect(calls.length).toBe(1);
  });

  test("beyond the deadline", async () => {
    const error = new ServiceError("UNAVAILABLE", undefined, { retryAfterSeconds: 30 });
    const { client, calls } = fakeClient(failing(error), { retry: fast });
    const started = Date.now();
    await expect(client.echo({})).rejects.toBe(error);
    expect(calls.length).toBe(1);
    expect(Date.now() - started).toBeLessThan(1000);
  });

  test("more often than allowed", async () => {
    const errors = Array.from({ length: 9 }, unavailable);
    const { client, calls } = fakeClient(failing(...errors), {
      retry: { ...fast, maxAttempts: 4 },
    });
    await expect(client.echo({})).rejects.toBe(errors[3]);
    expect(calls.length).toBe(4);
  });

  test("where it is turned off", async () => {
    const { client, calls } = fakeClient(failing(unavailable()), { retry: false });
    await expect(client.echo({})).rejects.toMatchObject({ code: "UNAVAILABLE" });
    expect(calls.length).toBe(1);
  });
});

describe("retry", () => {
  test.each(["echo", "replace"] as const)("of an idempotent call: %s", async (name) => {
    const { client, calls } = fakeClient(failing(unavailable(), unavailable()), { retry: fast });
    expect(await client[name]({})).toEqual({ text: "done" });
    expect(calls.length).toBe(3);
  });

  test("of any call of which nothing was sent", async () => {
    const { client, calls } = fakeClient(failing(markUnsent(unavailable())), { retry: fast });
    expect(await client.write({})).toEqual({ text: "done" });
    expect(calls.length).toBe(2);
  });

  test("not sooner than the target asks", async () => {
    const error = new ServiceError("UNAVAILABLE", undefined, { retryAfterSeconds: 0.2 });
    const { client } = fakeClient(failing(error), { retry: fast });
    const started = Date.now();
    await client.echo({});
    expect(Date.now() - started).toBeGreaterThanOrEqual(190);
  });
});

describe("circuit breaker", () => {
  const options = {
    retry: false,
    circuitBreaker: { consecutiveFailures: 3, openMs: 150 },
  } as const;

  test("opens, tries one, and closes", async () => {
    let healthy = false;
    const { client, calls } = fakeClient(() => {
      if (!healthy) throw unavailable();
      return { text: "done" };
    }, options);
    for (let count = 0; count < 3; count++) await expect(client.echo({})).rejects.toThrow();
    for (let count = 0; count < 5; count++) {
      await expect(client.echo({})).rejects.toMatchObject({
        code: "UNAVAILABLE",
        retryAfterSeconds: 1,
      });
    }
    expect(calls.length).toBe(3);
    await sleep(170);
    await expect(client.echo({})).rejects.toMatchObject({ retryAfterSeconds: undefined });
    await expect(client.echo({})).rejects.toMatchObject({ retryAfterSeconds: 1 });
    expect(calls.length).toBe(4);
    await sleep(170);
    healthy = true;
    await client.echo({});
    await client.echo({});
    expect(calls.length).toBe(6);
  });

  test.each<ErrorCode>(["FORBIDDEN", "INVALID_ARGUMENT", "RESOURCE_NOT_FOUND", "RATE_LIMITED"])(
    "%s is a sign of health",
    async (code) => {
      const errors = [unavailable(), unavailable(), new ServiceError(code), unavailable()];
      const { client, calls } = fakeClient(failing(...errors), options);
      for (const error of errors) await expect(client.echo({})).rejects.toBe(error);
      await client.echo({});
      expect(calls.length).toBe(5);
    },
  );

  test("a caller without time does not open it", async () => {
    const { client, calls } = fakeClient(() => sleep(1000), options);
    for (let count = 0; count < 5; count++) {
      const context = contextOf({ deadline: Date.now() + 40 });
      await expect(client.echo({}, { context })).rejects.toMatchObject({
        code: "DEADLINE_EXCEEDED",
      });
    }
    expect(calls.length).toBe(5);
  });

  test("by the rate of failures", async () => {
    const breaker = { failureRate: 0.5, samplingMs: 1000, openMs: 10_000 };
    const { client, calls } = fakeClient(
      (_call, attempt) => {
        if (attempt % 4 !== 0) throw unavailable();
        return {};
      },
      { retry: false, circuitBreaker: breaker },
    );
    for (let count = 0; count < 200; count++) await client.echo({}).catch(() => undefined);
    expect(calls.length).toBeLessThan(200);
  });
});

describe("timeout", () => {
  const never = () => new Promise(() => undefined);

  test.each([
    { name: "the client's own", options: {}, client: { timeoutMs: 60 } },
    { name: "that of the call", options: { timeoutMs: 60 }, client: {} },
  ])("$name", async ({ options, client: given }) => {
    const { client, calls } = fakeClient(never, given);
    const started = Date.now();
    await expect(client.echo({}, options)).rejects.toMatchObject({ code: "DEADLINE_EXCEEDED" });
    expect(Date.now() - started).toBeLessThan(1000);
    expect(calls[0]?.signal?.reason).toMatchObject({ code: "DEADLINE_EXCEEDED" });
  });

  test("what the served call has left, less a margin", async () => {
    const { client, calls } = fakeClient(() => ({}));
    const context = contextOf({ deadline: Date.now() + 1000 });
    await client.echo({}, { context });
    expect(calls[0]?.deadline).toBeLessThan(context.deadline);
    expect(calls[0]?.deadline).toBeGreaterThan(context.deadline - 200);
  });

  test("no time left at all: nothing is sent", async () => {
    const { client, calls } = fakeClient(() => ({}));
    const context = contextOf({ deadline: Date.now() + 5 });
    await expect(client.echo({}, { context })).rejects.toMatchObject({ code: "DEADLINE_EXCEEDED" });
    expect(calls.length).toBe(0);
  });

  test.each(["signal", "context"] as const)(
    "the %s cancels, also before the call",
    async (kind) => {
      const abort = new AbortController();
      const options = () =>
        kind === "signal"
          ? { signal: abort.signal }
          : { context: contextOf({ signal: abort.signal }) };
      const { client } = fakeClient(never);
      const call = client.echo({}, options());
      abort.abort();
      await expect(call).rejects.toMatchObject({ code: "CANCELLED" });
      await expect(client.echo({}, options())).rejects.toMatchObject({ code: "CANCELLED" });
    },
  );

  test("a closed client", async () => {
    const { client } = fakeClient(() => ({}));
    await client.close();
    await expect(client.echo({})).rejects.toMatchObject({ code: "UNAVAILABLE" });
  });
});

describe("rate limit", () => {
  test("refuses what comes too often, and says when", async () => {
    const { client, calls } = fakeClient(() => ({}), { rateLimit: { qps: 10, burst: 2 } });
    await client.echo({});
    await client.echo({});
    const error = await client.echo({}).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "RATE_LIMITED" });
    expect((error as ServiceError).retryAfterSeconds).toBeLessThanOrEqual(0.1);
    await sleep(120);
    await client.echo({});
    expect(calls.length).toBe(3);
  });

  test.each([{ qps: 0 }, { qps: -1 }, { qps: Number.NaN }, { qps: 1, burst: 0 }])(
    "%o is none",
    (rateLimit) => {
      expect(() => fakeClient(() => ({}), { rateLimit })).toThrow(RangeError);
    },
  );
});

describe("what is sent along", () => {
  test("of a served call: request id and trace, never the identity", async () => {
    const { client, calls } = fakeClient(() => ({}));
    const context = {
      ...contextOf({ spanId: "b7ad6b7169203331" }),
      headers: { all: () => ["alice"], names: () => ["x-svc-user-id", "authorization"] },
      principal: { subjectId: "alice" } as never,
    };
    await client.echo({}, { context });
    expect(Object.fromEntries(calls[0]?.headers ?? [])).toEqual({
      "x-request-id": "r-1",
      traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
      "user-agent": "svc-access",
    });
  });

  test.each([
    undefined,
    contextOf({ traceId: "", requestId: "r-2" }),
    contextOf({ traceId: "0".repeat(32) }),
  ])("a trace of its own where there is none", async (context) => {
    const { client, calls } = fakeClient(() => ({}));
    await client.echo({}, context === undefined ? {} : { context });
    const { traceparent, "x-request-id": id } = Object.fromEntries(calls[0]?.headers ?? []);
    expect(traceparent).toMatch(/^00-(?!0{32})[0-9a-f]{32}-[0-9a-f]{16}-01$/);
    expect(id).toMatch(/^(r-\d|[0-9a-f-]{36})$/);
  });

  test("the internal token, metadata of the client and of the call, the agent", async () => {
    let token = "one";
    const { client, calls } = fakeClient(() => ({}), {
      internalToken: () => token,
      metadata: { "X-Env": "dev", "X-Other": "a" },
      userAgent: "hub/1",
    });
    await client.echo({}, { metadata: { "X-OTHER": "b" } });
    token = "two";
    await client.echo({});
    expect(Object.fromEntries(calls[0]?.headers ?? [])).toMatchObject({
      "x-svc-internal-token": "one",
      "x-env": "dev",
      "x-other": "b",
      "user-agent": "hub/1",
    });
    expect(calls[1]?.headers.get("x-svc-internal-token")).toBe("two");
    expect(calls[1]?.headers.get("x-other")).toBe("a");
  });
});

test("the order of spec 5.7", async () => {
  const order: string[] = [];
  const mark =
    (name: string): ClientInterceptor =>
    (call, next) => {
      order.push(`${name} ${call.headers.has("traceparent")} ${call.deadline < Infinity}`);
      return next();
    };
  const { client } = fakeClient(failing(unavailable()), {
    before: [mark("before")],
    after: [mark("after")],
    retry: fast,
  });
  await client.echo({});
  expect(order).toEqual(["before false false", "after true true", "after true true"]);
});
