import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { BoundMethod, MethodKind } from "../../../src/runtime/binding/bound-method.ts";
import type { Call } from "../../../src/runtime/call/call.ts";
import type { CallContext } from "../../../src/runtime/call/call-context.ts";
import type { Interceptor } from "../../../src/runtime/chain/interceptor.ts";
import { ServiceError } from "../../../src/runtime/error/service-error.ts";
import { boundMethod, newCall } from "../support/call.ts";
import { openChain } from "../support/open-chain.ts";

function callOf(kind: MethodKind, handler: BoundMethod["handler"], httpMethod = "GET"): Call {
  return newCall({ method: boundMethod({ kind, handler }), httpMethod });
}

/** The outcome that observers get of a call whose stream is read to its end, or to its first message. */
async function endOf(call: Call, after: readonly Interceptor[], most = Infinity): Promise<string> {
  const ends: string[] = [];
  const end = (_: Call, error?: ServiceError) => void ends.push(error?.code ?? "OK");
  const chain = openChain({ after, observers: [{ end }] });
  try {
    let read = 0;
    for await (const _ of (await chain.run(call)) as AsyncIterable<unknown>) {
      if (++read >= most) break;
    }
  } catch {
    // The observer was notified as well.
  }
  return ends.join(", ");
}

test.each<[string, unknown]>([
  ["does not return the response", undefined],
  ["returns a message", { name: "one" }],
  ["returns a consumed list of messages", null],
  ["returns a stream that cannot be read", { [Symbol.asyncIterator]: () => ({}) }],
  [
    "returns a stream that throws when it is left",
    {
      [Symbol.asyncIterator]: () => ({
        next: () => Promise.reject(new Error("broken")),
        return() {
          throw new Error("broken as well");
        },
      }),
    },
  ],
])("the call of a stream ends where an interceptor %s", async (_, answer) => {
  const call = callOf("server_streaming", async function* () {
    yield {};
  });
  expect(await endOf(call, [async () => answer])).toBe("INTERNAL");
});

async function* forever() {
  for (;;) yield {};
}

test("a stream that its reader leaves early is cancelled, except for HEAD, whose response is its beginning", async () => {
  expect(await endOf(callOf("server_streaming", forever), [], 1)).toBe("CANCELLED");
  let isLeft = false;
  async function* left() {
    try {
      yield* forever();
    } finally {
      isLeft = true;
    }
  }
  expect(await endOf(callOf("server_streaming", left, "HEAD"), [], 1)).toBe("OK");
  expect(isLeft).toBe(true);
});

test("the deadline of a call starts at the timeout stage, for its handler and for the chain", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  let reported = 0;
  let begun = 0;
  const call = callOf("unary", async (_request, context) => {
    begun = Date.now();
    reported = context.deadline - Date.now();
    await aborted(context);
  });
  const before: Interceptor = async (context, next) => {
    if (context === call) await new Promise((resolve) => setTimeout(resolve, 400));
    return next();
  };
  const chain = openChain({ before: [before], timeoutMs: { unary: 500, stream: 500 } });
  const other = callOf("unary", (_request, context) => aborted(context));
  const start = Date.now();
  const results = [chain.run(other), chain.run(call)];
  const ended = results.map((result) =>
    expect(result).rejects.toMatchObject({ code: "DEADLINE_EXCEEDED" }),
  );
  await vi.advanceTimersByTimeAsync(899);
  expect(call.abortReason).toBeUndefined();
  await vi.advanceTimersByTimeAsync(1);
  await Promise.all(ended);
  expect([begun, reported]).toEqual([start + 400, 500]);
});

function aborted({ signal }: CallContext): Promise<unknown> {
  return new Promise((resolve) => signal.addEventListener("abort", resolve));
}

describe("an interceptor calls next again", () => {
  const retry: Interceptor = async (_, next) => {
    try {
      return await next();
    } catch {
      return await next();
    }
  };

  test.each(["before", "after"] as const)("at %s: the request is read once", async (place) => {
    let reads = 0;
    const requests: unknown[] = [];
    const handler = async (request: unknown) => {
      requests.push(request);
      if (requests.length === 1) throw new ServiceError("FAILED_PRECONDITION");
      return { id: "1" };
    };
    const method = boundMethod({ handler });
    const readRequest = async () => ({ read: ++reads });
    const chain = openChain({ [place]: [retry] });
    expect(await chain.run(newCall({ method, readRequest }))).toEqual({ id: "1" });
    expect(requests).toEqual([{ read: 1 }, { read: 1 }]);
    expect(requests[0]).toBe(requests[1]);
  });

  test("after the request could not be read: the error is the same, and nothing hangs", async () => {
    let reads = 0;
    const readRequest = async () => {
      reads++;
      throw new ServiceError("INVALID_ARGUMENT");
    };
    const call = newCall({ readRequest });
    await expect(openChain({ before: [retry] }).run(call)).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
    });
    expect(reads).toBe(1);
  });

  test.each(["before", "after"] as const)(
    "at %s: the handler of a stream of requests is called once",
    async (place) => {
      let calls = 0;
      const handler = async () => {
        calls++;
        throw new ServiceError("FAILED_PRECONDITION");
      };
      const call = callOf("client_streaming", handler);
      await expect(openChain({ [place]: [retry] }).run(call)).rejects.toMatchObject({
        code: "INTERNAL",
      });
      expect(calls).toBe(1);
    },
  );

  test("the end of the call ends each waiting next", async () => {
    const reasons: string[] = [];
    const both: Interceptor = async (_, next) => {
      const settled = await Promise.allSettled([next(), next(), next()]);
      for (const one of settled) if (one.status === "rejected") reasons.push(one.reason.code);
      return next();
    };
    let calls = 0;
    const call = callOf("unary", () => {
      if (++calls === 3) queueMicrotask(() => call.abort(new ServiceError("DEADLINE_EXCEEDED")));
      return new Promise(() => undefined);
    });
    await expect(openChain({ before: [both] }).run(call)).rejects.toMatchObject({
      code: "DEADLINE_EXCEEDED",
    });
    expect(reasons).toEqual(Array(3).fill("DEADLINE_EXCEEDED"));
    expect(calls).toBe(3);
  });

  test("the deadline of the call does not start again", async () => {
    const deadlines: number[] = [];
    vi.useFakeTimers();
    try {
      const call = callOf("unary", async () => {
        deadlines.push(call.deadline);
        vi.advanceTimersByTime(100);
        if (deadlines.length === 1) throw new ServiceError("FAILED_PRECONDITION");
        return {};
      });
      await openChain({ before: [retry] }).run(call);
      expect(new Set(deadlines).size).toBe(1);
      expect(deadlines).toHaveLength(2);
      expect(vi.getTimerCount()).toBeLessThanOrEqual(1);
    } finally {
      vi.useRealTimers();
    }
  });
});
