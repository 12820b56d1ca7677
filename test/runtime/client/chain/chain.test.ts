import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { type CallContext, NO_AUDIT } from "../../../../src/runtime/call/call-context.ts";
import { markUnsent } from "../../../../src/runtime/client/call/call-failure.ts";
import type {
  ClientCall,
  ClientInterceptor,
} from "../../../../src/runtime/client/call/client-call.ts";
import type { ErrorCode } from "../../../../src/runtime/error/error-codes.ts";
import { ServiceError } from "../../../../src/runtime/error/service-error.ts";
import { fakeClient } from "../support/fake-transport.ts";

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
    audit: NO_AUDIT,
    setResponseHeader() {},
    appendResponseHeader() {},
    setResponseTrailer() {},
    appendResponseTrailer() {},
    ...given,
  };
}

async function readAll(responses: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of responses);
}

/** Fails with these errors in turn, then succeeds. */
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

  test("a call that may change something, and may have been received [CLI-2]", async () => {
    const { client, calls } = fakeClient(failing(unavailable()), { retry: fast });
    await expect(client.write({})).rejects.toMatchObject({ code: "UNAVAILABLE" });
    expect(calls.length).toBe(1);
  });

  const none = () => (async function* () {})();
  type Client = ReturnType<typeof fakeClient>["client"];
  test.each<[string, (client: Client) => Promise<unknown>]>([
    ["of requests", (client) => client.collect(none())],
    ["of responses", (client) => readAll(client.expand({}))],
    ["of both", (client) => readAll(client.chat(none()))],
  ])("streams %s", async (_, call) => {
    const { client, calls } = fakeClient(failing(markUnsent(unavailable())), { retry: fast });
    await expect(call(client)).rejects.toMatchObject({ code: "UNAVAILABLE" });
    expect(calls.length).toBe(1);
  });

  test.each([1, 0])("if maxAttempts is %i", async (maxAttempts) => {
    const { client, calls } = fakeClient(failing(unavailable()), { retry: { maxAttempts } });
    await expect(client.echo({})).rejects.toMatchObject({ code: "UNAVAILABLE" });
    expect(calls.length).toBe(1);
  });

  test("an error that is not a ServiceError", async () => {
    const { client, calls } = fakeClient(
      () => {
        throw new TypeError("a request that cannot be written");
      },
      { retry: fast },
    );
    await expect(client.echo({})).rejects.toBeInstanceOf(TypeError);
    expect(calls.length).toBe(1);
  });

  test("beyond the deadline", async () => {
    const error = new ServiceError("UNAVAILABLE", undefined, { retryAfterSeconds: 30 });
    const { client, calls } = fakeClient(failing(error), { retry: fast });
    // Another attempt in thirty seconds would have ended as DEADLINE_EXCEEDED.
    await expect(client.echo({})).rejects.toBe(error);
    expect(calls.length).toBe(1);
  });

  test("more often than configured", async () => {
    const errors = Array.from({ length: 9 }, unavailable);
    const { client, calls } = fakeClient(failing(...errors), {
      retry: { ...fast, maxAttempts: 4 },
    });
    await expect(client.echo({})).rejects.toBe(errors[3]);
    expect(calls.length).toBe(4);
  });

  test("if it is turned off", async () => {
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

  test("of any call that was not sent", async () => {
    const { client, calls } = fakeClient(failing(markUnsent(unavailable())), { retry: fast });
    expect(await client.write({})).toEqual({ text: "done" });
    expect(calls.length).toBe(2);
  });

  test("at most three attempts by default", async () => {
    const errors = Array.from({ length: 9 }, unavailable);
    const { client, calls } = fakeClient(failing(...errors), { timeoutMs: 60_000 });
    await expect(client.echo({})).rejects.toBe(errors[2]);
    expect(calls.length).toBe(3);
  });

  test.each([
    ["up to 50 ms at first", {}, 145],
    ["up to the configured delay", { initialDelayMs: 150 }, 440],
  ])("after delays that grow, %s", async (_, options, leastMs) => {
    const random = vi.spyOn(Math, "random").mockReturnValue(0.99);
    try {
      const { client } = fakeClient(failing(unavailable(), unavailable()), { retry: options });
      const started = Date.now();
      await client.echo({});
      expect(Date.now() - started).toBeGreaterThanOrEqual(leastMs);
    } finally {
      random.mockRestore();
    }
  });

  test("after delays that do not exceed the configured maximum", async () => {
    const { client, calls } = fakeClient(failing(unavailable(), unavailable()), {
      retry: { initialDelayMs: 600_000, maxDelayMs: 5 },
    });
    await client.echo({});
    expect(calls.length).toBe(3);
  });

  test("once if maxAttempts is 2", async () => {
    const errors = [unavailable(), unavailable()] as const;
    const { client, calls } = fakeClient(failing(...errors), {
      retry: { ...fast, maxAttempts: 2 },
    });
    await expect(client.echo({})).rejects.toBe(errors[1]);
    expect(calls.length).toBe(2);
  });

  test("ends when the caller cancels", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const abort = new AbortController();
    const { client, calls } = fakeClient(
      () => {
        setTimeout(() => abort.abort(), 5);
        throw new ServiceError("UNAVAILABLE", undefined, { retryAfterSeconds: 0.1 });
      },
      { retry: fast, circuitBreaker: false },
    );
    const ended = expect(client.echo({}, { signal: abort.signal })).rejects.toMatchObject({
      code: "CANCELLED",
    });
    await vi.advanceTimersByTimeAsync(5);
    await ended;
    await vi.advanceTimersByTimeAsync(1000);
    expect(calls.length).toBe(1);
  });

  test("not earlier than the target requests", async () => {
    const error = new ServiceError("UNAVAILABLE", undefined, { retryAfterSeconds: 0.2 });
    const { client } = fakeClient(failing(error), { retry: fast });
    const started = Date.now();
    await client.echo({});
    expect(Date.now() - started).toBeGreaterThanOrEqual(190);
  });
});

describe("circuit breaker", () => {
  const OPEN_MS = 500;
  const openAgain = () => void vi.advanceTimersByTime(OPEN_MS + 20);
  beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"] }));
  afterEach(() => void vi.useRealTimers());

  const options = {
    retry: false,
    circuitBreaker: { consecutiveFailures: 3, openMs: OPEN_MS },
  } as const;

  /** For tests that do not wait until it closes again. */
  const lasting = {
    retry: false,
    circuitBreaker: { consecutiveFailures: 3, openMs: 60_000 },
  } as const;

  test("opens, lets one call through, and closes", async () => {
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
    openAgain();
    await expect(client.echo({})).rejects.toMatchObject({ retryAfterSeconds: undefined });
    await expect(client.echo({})).rejects.toMatchObject({ retryAfterSeconds: 1 });
    expect(calls.length).toBe(4);
    openAgain();
    healthy = true;
    await client.echo({});
    await client.echo({});
    expect(calls.length).toBe(6);
  });

  test.each<ErrorCode>(["UNAVAILABLE", "DEADLINE_EXCEEDED", "INTERNAL"])(
    "%s counts as a failure",
    async (code) => {
      const errors = [1, 2, 3].map(() => new ServiceError(code));
      const { client, calls } = fakeClient(failing(...errors), lasting);
      for (const error of errors) await expect(client.echo({})).rejects.toBe(error);
      await expect(client.echo({})).rejects.toMatchObject({ code: "UNAVAILABLE" });
      expect(calls.length).toBe(3);
    },
  );

  test("by default it opens after ten failures, and errors have the time until it closes", async () => {
    const { client, calls } = fakeClient(
      () => {
        throw unavailable();
      },
      { retry: false },
    );
    for (let count = 0; count < 10; count++) {
      await expect(client.echo({})).rejects.toMatchObject({ retryAfterSeconds: undefined });
    }
    const error = await client.echo({}).catch((thrown: unknown) => thrown as ServiceError);
    expect(error).toMatchObject({ code: "UNAVAILABLE" });
    expect((error as ServiceError).retryAfterSeconds).toBeGreaterThan(1);
    expect((error as ServiceError).retryAfterSeconds).toBeLessThanOrEqual(5);
    expect(calls.length).toBe(10);
  });

  test("never opens if it is turned off", async () => {
    const errors = Array.from({ length: 30 }, unavailable);
    const { client, calls } = fakeClient(failing(...errors), {
      retry: false,
      circuitBreaker: false,
    });
    for (const error of errors) await expect(client.echo({})).rejects.toBe(error);
    expect(calls.length).toBe(30);
  });

  test("lets one trial call through, and refuses others in the meantime", async () => {
    let answer: (() => void) | undefined;
    const { client, calls } = fakeClient((_call, attempt) => {
      if (attempt < 3) throw unavailable();
      return new Promise((resolve) => {
        answer = () => resolve({ text: "done" });
      });
    }, options);
    for (let count = 0; count < 3; count++) await expect(client.echo({})).rejects.toThrow();
    openAgain();
    const tried = client.echo({});
    await expect.poll(() => answer, { message: "the trial call begins" }).toBeDefined();
    await expect(client.echo({})).rejects.toMatchObject({
      code: "UNAVAILABLE",
      retryAfterSeconds: 1,
    });
    expect(calls.length).toBe(4);
    answer?.();
    expect(await tried).toEqual({ text: "done" });
    const next = client.echo({});
    await expect.poll(() => calls.length, { message: "the next call begins" }).toBe(5);
    answer?.();
    expect(await next).toEqual({ text: "done" });
  });

  test.each([
    ["that its caller cancelled", () => ({ signal: AbortSignal.timeout(300) })],
    [
      "whose caller had no time left",
      () => ({ context: contextOf({ deadline: Date.now() + 400 }) }),
    ],
  ])("is not closed by a call to try %s", async (_, hasty) => {
    const { client, calls } = fakeClient(({ signal }, attempt) => {
      if (attempt < 3) throw unavailable();
      return new Promise((_, reject) => {
        signal?.addEventListener("abort", () => reject(signal.reason));
      });
    }, options);
    for (let count = 0; count < 3; count++) await expect(client.echo({})).rejects.toThrow();
    openAgain();
    await expect(client.echo({}, hasty())).rejects.toThrow();
    // After the transport has ended that call, too.
    await new Promise((resolve) => setImmediate(resolve));
    await expect(client.echo({})).rejects.toMatchObject({ code: "UNAVAILABLE" });
    expect(calls.length).toBe(4);
  });

  test.each<ErrorCode>(["FORBIDDEN", "INVALID_ARGUMENT", "RESOURCE_NOT_FOUND", "RATE_LIMITED"])(
    "%s counts as a success",
    async (code) => {
      const errors = [unavailable(), unavailable(), new ServiceError(code), unavailable()];
      const { client, calls } = fakeClient(failing(...errors), options);
      for (const error of errors) await expect(client.echo({})).rejects.toBe(error);
      await client.echo({});
      expect(calls.length).toBe(5);
    },
  );

  test("an unreachable target opens it, whoever set the deadline", async () => {
    const errors = [1, 2, 3].map(unavailable);
    const { client, calls } = fakeClient(failing(...errors), lasting);
    for (let count = 0; count < 5; count++) {
      const context = contextOf({ deadline: Date.now() + 4000 });
      await expect(client.echo({}, { context })).rejects.toMatchObject({ code: "UNAVAILABLE" });
    }
    expect(calls.length).toBe(3);
  });

  test("callers without time left do not open it", async () => {
    const { client, calls } = fakeClient(() => new Promise(() => undefined), options);
    const hasty = () => client.echo({}, { context: contextOf({ deadline: Date.now() + 400 }) });
    for (const result of await Promise.allSettled(Array.from({ length: 5 }, hasty))) {
      expect(result).toMatchObject({ reason: { code: "DEADLINE_EXCEEDED" } });
    }
    await expect(hasty()).rejects.toMatchObject({ code: "DEADLINE_EXCEEDED" });
    expect(calls.length).toBe(6);
  });

  test.each([{ samplingMs: 1000 }, {}])("opens by the rate of failures, %o", async (sampling) => {
    const breaker = { failureRate: 0.5, openMs: 10_000, ...sampling };
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

  test("stays closed at a rate of failures below the configured one", async () => {
    const { client, calls } = fakeClient(
      (_call, attempt) => {
        if (attempt % 4 === 0) throw unavailable();
        return {};
      },
      { retry: false, circuitBreaker: { failureRate: 0.5 } },
    );
    for (let count = 0; count < 200; count++) await client.echo({}).catch(() => undefined);
    expect(calls.length).toBe(200);
  });
});

describe("timeout", () => {
  const never = () => new Promise(() => undefined);

  test.each([
    { name: "the client's own", options: {}, client: { timeoutMs: 60 } },
    { name: "that of the call", options: { timeoutMs: 60 }, client: {} },
  ])("$name", async ({ options, client: given }) => {
    const { client, calls } = fakeClient(never, given);
    await expect(client.echo({}, options)).rejects.toMatchObject({ code: "DEADLINE_EXCEEDED" });
    expect(calls[0]?.signal?.reason).toMatchObject({ code: "DEADLINE_EXCEEDED" });
  });

  test("that the server reports before the local timer", async () => {
    vi.useFakeTimers({ toFake: ["Date", "setTimeout"] });
    try {
      const late = () => {
        vi.setSystemTime(Date.now() + 60);
        throw new ServiceError("CANCELLED");
      };
      const { client } = fakeClient(late, { timeoutMs: 60, retry: false });
      await expect(client.echo({})).rejects.toMatchObject({ code: "DEADLINE_EXCEEDED" });
      await expect(readAll(client.expand({}, { timeoutMs: 60 }))).rejects.toMatchObject({
        code: "DEADLINE_EXCEEDED",
      });
      await expect(client.echo({}, { timeoutMs: 61 })).rejects.toMatchObject({ code: "CANCELLED" });
    } finally {
      vi.useRealTimers();
    }
  });

  test("the remaining time of the served call, less a margin", async () => {
    const { client, calls } = fakeClient(() => ({}));
    const context = contextOf({ deadline: Date.now() + 1000 });
    await client.echo({}, { context });
    expect(calls[0]?.deadline).toBeLessThan(context.deadline);
    expect(calls[0]?.deadline).toBeGreaterThan(context.deadline - 200);
  });

  test("without remaining time, nothing is sent", async () => {
    const { client, calls } = fakeClient(() => ({}));
    const context = contextOf({ deadline: Date.now() + 5 });
    await expect(client.echo({}, { context })).rejects.toMatchObject({ code: "DEADLINE_EXCEEDED" });
    expect(calls.length).toBe(0);
  });

  test.each(["signal", "context"] as const)(
    "the %s cancels, even before the call",
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
    const { client, calls, closed } = fakeClient(() => ({}));
    await client.close();
    expect(closed()).toBe(1);
    await client.close();
    expect(closed()).toBe(1);
    await expect(client.echo({})).rejects.toMatchObject({ code: "UNAVAILABLE" });
    expect(calls.length).toBe(0);
  });
});

describe("rate limit", () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["performance"] }));
  afterEach(() => void vi.useRealTimers());

  test("refuses calls that exceed the rate, with the time to wait", async () => {
    const { client, calls } = fakeClient(() => ({}), { rateLimit: { qps: 10, burst: 2 } });
    await client.echo({});
    await client.echo({});
    const error = await client.echo({}).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "RATE_LIMITED" });
    expect((error as ServiceError).retryAfterSeconds).toBeGreaterThan(0);
    expect((error as ServiceError).retryAfterSeconds).toBeLessThanOrEqual(0.1);
    vi.advanceTimersByTime(120);
    await client.echo({});
    expect(calls.length).toBe(3);
  });

  test("saves up no more than the burst", async () => {
    const { client, calls } = fakeClient(() => ({}), { rateLimit: { qps: 20, burst: 2 } });
    vi.advanceTimersByTime(300);
    await Promise.allSettled(Array.from({ length: 6 }, () => client.echo({})));
    expect(calls.length).toBe(2);
  });

  test("frequent calls do not fill the bucket", async () => {
    const { client, calls } = fakeClient(() => ({}), { rateLimit: { qps: 0.1, burst: 1 } });
    for (let count = 0; count < 60; count++) {
      await client.echo({}).catch(() => undefined);
      vi.advanceTimersByTime(10);
    }
    expect(calls.length).toBe(1);
  });

  test.each([{ qps: 0.5, burst: 1 }, { qps: 1 }])("%o is a rate limit", async (rateLimit) => {
    const { client } = fakeClient(() => ({}), { rateLimit });
    await client.echo({});
    await expect(client.echo({})).rejects.toMatchObject({ code: "RATE_LIMITED" });
  });

  test.each([
    ...[{ qps: 0 }, { qps: -1 }, { qps: Number.NaN }, { qps: 1, burst: 0 }, { qps: 0.5 }],
    ...[
      { qps: 0, burst: 1 },
      { qps: -1, burst: 1 },
      { qps: 1, burst: Number.NaN },
    ],
  ])("%o is none", (rateLimit) => {
    expect(() => fakeClient(() => ({}), { rateLimit })).toThrow(RangeError);
  });
});

describe("headers of a call", () => {
  test("within a served call: request id and trace, never the identity [CLI-3]", async () => {
    const { client, calls } = fakeClient(() => ({}));
    const context = {
      ...contextOf({ spanId: "b7ad6b7169203331" }),
      headers: { all: () => ["alice"], names: () => ["x-svc-user-id", "authorization"] },
      principal: { subjectId: "alice" } as never,
    };
    await client.echo({}, { context });
    expect(Object.fromEntries(calls[0]?.headers ?? [])).toEqual({
      "x-request-id": "r-1",
      traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00",
      "user-agent": "svc-access",
    });
  });

  test("the internal token in a header of another name", async () => {
    const { client, calls } = fakeClient(() => ({}), {
      internalToken: "one",
      internalTokenHeader: "X-Other-Token",
    });
    await client.echo({});
    expect(calls[0]?.headers.get("x-other-token")).toBe("one");
    expect(calls[0]?.headers.has("x-svc-internal-token")).toBe(false);
  });

  const TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00";
  test.each<[string, string, readonly string[], string | undefined]>([
    ["unchanged", TRACEPARENT, ["a=1,b=2"], "a=1,b=2"],
    ["in one header", TRACEPARENT, ["a=1", "b=2"], "a=1,b=2"],
    ["of 512 characters", TRACEPARENT, ["x".repeat(512)], "x".repeat(512)],
    ["not if it is longer", TRACEPARENT, ["x".repeat(513)], undefined],
    ["not with a line break", TRACEPARENT, ["a=1\r\nx-svc-user-id: eve"], undefined],
    ["not with characters that are not ASCII", TRACEPARENT, ["\u00e9=1"], undefined],
    ["not if it is empty", TRACEPARENT, [""], undefined],
    ["not of another trace", TRACEPARENT.replace("0af7", "1af7"), ["a=1"], undefined],
  ])("the state of a trace: %s", async (_, traceparent, tracestate, expected) => {
    const { client, calls } = fakeClient(() => ({}));
    const sent: Record<string, readonly string[]> = { traceparent: [traceparent], tracestate };
    const headers = { all: (name: string) => sent[name] ?? [], names: () => Object.keys(sent) };
    await client.echo({}, { context: { ...contextOf(), headers } as CallContext });
    expect(calls[0]?.headers.get("tracestate")).toBe(expected);
    const isSame = traceparent === TRACEPARENT;
    expect(calls[0]?.headers.get("traceparent") === traceparent).toBe(isSame);
    expect(calls[0]?.headers.get("traceparent")).toMatch(/^00-0af7651916cd43dd8448eb211c80319c-/);
  });

  test.each([
    undefined,
    contextOf({ traceId: "", requestId: "r-2" }),
    contextOf({ traceId: "0".repeat(32) }),
  ])("a trace of its own where there is none", async (context) => {
    const { client, calls } = fakeClient(() => ({}));
    await client.echo({}, context === undefined ? {} : { context });
    const { traceparent, "x-request-id": id } = Object.fromEntries(calls[0]?.headers ?? []);
    expect(traceparent).toMatch(/^00-(?!0{32})[0-9a-f]{32}-[0-9a-f]{16}-00$/);
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

describe("the order of a client's chain: [CLI-1]", () => {
  const down = () => {
    throw unavailable();
  };
  /** A context whose deadline has passed. */
  const late = () => contextOf({ deadline: Date.now() - 1 });

  test("request info replaces what interceptors at the start have set", async () => {
    const set: ClientInterceptor = (call, next) => {
      call.headers.set("user-agent", "before");
      return next();
    };
    const { client, calls } = fakeClient(() => ({}), { before: [set], userAgent: "hub/1" });
    await client.echo({});
    expect(calls[0]?.headers.get("user-agent")).toBe("hub/1");
  });

  test("metadata comes after request info", async () => {
    const { client, calls } = fakeClient(() => ({}));
    await client.echo({}, { metadata: { "User-Agent": "mine", "X-Request-Id": "r-9" } });
    expect(calls[0]?.headers.get("user-agent")).toBe("mine");
    expect(calls[0]?.headers.get("x-request-id")).toBe("r-9");
  });

  test("the deadline is checked after metadata", async () => {
    let asked = 0;
    const internalToken = () => `token-${++asked}`;
    const { client } = fakeClient(() => ({}), { internalToken });
    await expect(client.echo({}, { context: late() })).rejects.toThrow();
    expect(asked).toBe(1);
  });

  test("a call without time left does not count for the rate limit", async () => {
    const { client, calls } = fakeClient(() => ({}), { rateLimit: { qps: 0.001, burst: 1 } });
    await expect(client.echo({}, { context: late() })).rejects.toMatchObject({
      code: "DEADLINE_EXCEEDED",
    });
    await client.echo({});
    expect(calls.length).toBe(1);
  });

  test("a call that an open circuit refuses counts for the rate limit", async () => {
    const { client } = fakeClient(down, {
      rateLimit: { qps: 0.001, burst: 2 },
      circuitBreaker: { consecutiveFailures: 1 },
      retry: false,
    });
    const codes: string[] = [];
    for (let count = 0; count < 3; count++) {
      await client.echo({}).catch(({ code }: ServiceError) => void codes.push(code));
    }
    expect(codes).toEqual(["UNAVAILABLE", "UNAVAILABLE", "RATE_LIMITED"]);
  });

  test("the attempts of a call count once for rate limit and circuit", async () => {
    const { client, calls } = fakeClient(down, {
      rateLimit: { qps: 0.001, burst: 2 },
      circuitBreaker: { consecutiveFailures: 2 },
      retry: { ...fast, maxAttempts: 3 },
    });
    for (let count = 0; count < 2; count++) {
      await expect(client.echo({})).rejects.toMatchObject({ code: "UNAVAILABLE" });
    }
    expect(calls.length).toBe(6);
  });

  test("the timeout of a call applies to all its attempts together", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
    onTestFinished(() => void vi.useRealTimers());
    const { client, calls } = fakeClient(down, {
      timeoutMs: 150,
      circuitBreaker: false,
      retry: { initialDelayMs: 40, maxDelayMs: 40, maxAttempts: 1000 },
    });
    const ended = expect(client.echo({})).rejects.toBeInstanceOf(ServiceError);
    await vi.advanceTimersByTimeAsync(150);
    await ended;
    const attempts = calls.length;
    expect(attempts).toBeGreaterThan(1);
    expect(new Set(calls.map(({ deadline }) => deadline)).size).toBe(1);
    await vi.advanceTimersByTimeAsync(1000);
    expect(calls.length).toBe(attempts);
  });
});

test("interceptors see the call before and after it gets its deadline and signal", async () => {
  const seen: Partial<ClientCall>[] = [];
  const note: ClientInterceptor = (call, next) => {
    const { method: _, request, headers: __, ...plain } = call;
    seen.push({ ...plain, request });
    return next();
  };
  const { client } = fakeClient(() => ({}), { before: [note], after: [note] });
  await client.echo({ text: "a" });
  await client.write({});
  expect(seen).toMatchObject([
    {
      rpc: "fixture.v1.EchoService/Echo",
      transport: "grpc",
      request: { text: "a" },
      isIdempotent: true,
      deadline: Number.POSITIVE_INFINITY,
      deadlineIsOwn: true,
      signal: undefined,
    },
    { deadline: expect.any(Number), signal: expect.any(AbortSignal) },
    { rpc: "fixture.v1.EchoService/Write", isIdempotent: false },
    { isIdempotent: false },
  ]);
});

test("the order of a client's chain: the custom places [CLI-1]", async () => {
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
