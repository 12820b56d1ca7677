/** The order of the stages of the chain, and the calls that each of them refuses. */
import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { AnyHandler, MethodKind } from "../../../src/runtime/binding/bound-method.ts";
import type { Call, CallStart } from "../../../src/runtime/call/call.ts";
import { ServerChain, type ServerChainParts } from "../../../src/runtime/chain/server-chain.ts";
import { ServiceError } from "../../../src/runtime/error/service-error.ts";
import { responsesOfTurn } from "../../../src/runtime/wire/turn-budget.ts";
import { serviceMethod } from "../authorization/messages.ts";
import { boundMethod, newCall } from "../support/call.ts";

const LONG_MS = 60_000;
const ORDER = [
  "observer begins",
  "before",
  "context injection",
  "request info",
  "metadata",
  "authentication",
  "rate limit",
  "request",
  "authorization",
  "audit begins",
  "admission",
  "after",
  "handler",
  "after again",
  "before again",
  "response",
  "audit ends",
  "observer ends",
];
/** The stages that may refuse, in the order of the chain. */
const STAGES = ORDER.slice(1, ORDER.indexOf("after again"));
/** The stages that may be asynchronous. */
const WAITING = ["before", "authentication", "request", "authorization", "audit begins"].concat(
  "admission",
  "after",
  "handler",
  "audit ends",
);

interface TestChain {
  /** The stages that wait before they continue. */
  readonly waiting?: readonly string[];
  /** The stage that refuses, and its error. */
  readonly refuses?: string;
  readonly error?: unknown;
  readonly audit?: boolean;
  readonly kind?: MethodKind;
  readonly handler?: AnyHandler;
  readonly timeoutMs?: ServerChainParts["timeoutMs"];
  readonly start?: Partial<CallStart>;
  /** Runs when a stage is reached. */
  readonly at?: (stage: string, call: Call) => unknown;
}

/** A chain whose stages record when they run, and a call for it. */
function chainOf(of: TestChain) {
  const seen: string[] = [];
  const ended: (ServiceError | undefined)[] = [];
  let call: Call;
  const later = () => new Promise<void>((resolve) => setImmediate(resolve));
  const reach = (stage: string): void | Promise<void> => {
    const enter = () => {
      seen.push(stage);
      of.at?.(stage, call);
      if (of.refuses === stage) throw of.error ?? new ServiceError("FORBIDDEN", stage);
    };
    if (of.waiting?.includes(stage) !== true) return enter();
    return later().then(enter);
  };
  const parts: ServerChainParts = {
    before: [
      async (_, next) => {
        await reach("before");
        const response = await next();
        await reach("before again");
        return response;
      },
    ],
    timeoutMs: of.timeoutMs ?? { unary: LONG_MS, stream: LONG_MS },
    contextInjection: () => void reach("context injection"),
    requestInfo: () => void reach("request info"),
    metadata: () => void reach("metadata"),
    authentication: () => reach("authentication"),
    rateLimit: () => void reach("rate limit"),
    authorization: () => reach("authorization"),
    audit: {
      begin: () => reach("audit begins"),
      complete: (_, error) => {
        ended.push(error);
        return reach("audit ends");
      },
      outlast: () => void reach("audit waits"),
    },
    admission: [() => reach("admission")],
    after: () => [
      async (_, next) => {
        await reach("after");
        const response = await next();
        seen.push("after again");
        return response;
      },
    ],
    observers: [
      {
        begin: () => void seen.push("observer begins"),
        end: (_, error) => {
          ended.push(error);
          seen.push("observer ends");
        },
      },
    ],
  };
  const descriptor = serviceMethod("One");
  const method = boundMethod({
    rpc: "a.v1.Service/One",
    kind: of.kind ?? "unary",
    descriptor,
    policy: {
      exposure: "PUBLIC",
      publish: false,
      ...(of.audit === false ? {} : { audit: { event: "a.b", riskLevel: "LOW" as const } }),
    },
    isWrite: true,
    handler: (request, context) => {
      const reached = reach("handler");
      const work = () => of.handler?.(request, context) ?? { id: `of ${request}` };
      return reached === undefined ? work() : reached.then(work);
    },
  });
  call = newCall({
    method,
    httpMethod: "POST",
    readRequest: () => {
      const reached = reach("request");
      return reached === undefined ? "a request" : reached.then(() => "a request");
    },
    encodeResponse: (response) => {
      seen.push("response");
      return { encoded: response };
    },
    ...of.start,
  });
  return {
    chain: new ServerChain(parts),
    call,
    seen,
    ended,
    run: () => new ServerChain(parts).run(call),
  };
}

const isAudited = (stage: string) => ORDER.indexOf(stage) >= ORDER.indexOf("request");

describe("an allowed call passes all stages in order [CHAIN-1]", () => {
  test.each<[string, readonly string[]]>([
    ["without waiting", []],
    ...WAITING.map((stage) => [`where ${stage} waits`, [stage]] as [string, string[]]),
    ["if all wait", WAITING],
  ])("%s", async (_, waiting) => {
    const { run, seen, ended, call } = chainOf({ waiting });
    expect(await run()).toMatchObject({ encoded: { id: "of a request" } });
    expect(seen).toEqual(ORDER);
    expect(ended).toEqual([undefined, undefined]);
    expect(call.endedAt).toBeGreaterThanOrEqual(call.startedAt);
  });

  test("without audit if its policy has none", async () => {
    const { run, seen } = chainOf({ audit: false });
    await run();
    expect(seen).toEqual(ORDER.filter((stage) => !stage.startsWith("audit")));
  });

  test("and its deadline starts after the custom `before` stages, before all others", async () => {
    const deadlines = new Map<string, number>();
    const { run } = chainOf({ at: (stage, call) => deadlines.set(stage, call.deadline) });
    const begin = Date.now();
    await run();
    expect(deadlines.get("before")).toBe(Number.POSITIVE_INFINITY);
    expect(deadlines.get("context injection")).toBeGreaterThanOrEqual(begin + LONG_MS);
    expect(deadlines.get("context injection")).toBeLessThanOrEqual(Date.now() + LONG_MS);
  });
});

describe("nothing runs after a stage that refuses [CHAIN-4]", () => {
  test.each(STAGES)("%s", async (refuses) => {
    for (const waiting of [[], WAITING]) {
      const { run, seen, ended } = chainOf({ refuses, waiting });
      await expect(run()).rejects.toMatchObject({ code: "FORBIDDEN", message: refuses });
      const afterwards = isAudited(refuses) ? ["audit ends", "observer ends"] : ["observer ends"];
      expect(seen).toEqual([...ORDER.slice(0, ORDER.indexOf(refuses) + 1), ...afterwards]);
      expect(ended.map((error) => error?.message)).toEqual(afterwards.map(() => refuses));
    }
  });

  test.each(STAGES)("%s, by an error that is not a ServiceError", async (refuses) => {
    const { run, ended } = chainOf({ refuses, error: new TypeError("secret") });
    await expect(run()).rejects.toMatchObject({ code: "INTERNAL", message: "internal error" });
    expect(new Set(ended.map((error) => error?.code))).toEqual(new Set(["INTERNAL"]));
  });

  test("a response that cannot be encoded is an error of the call", async () => {
    const encodeResponse = () => {
      throw new RangeError("too large");
    };
    const { run, ended } = chainOf({ start: { encodeResponse } });
    await expect(run()).rejects.toMatchObject({ code: "INTERNAL" });
    // The audit event has the outcome of the handler.
    expect(ended.map((error) => error?.code)).toEqual([undefined, "INTERNAL"]);
  });

  test.each([undefined, null, "text", 7])("a handler that returns %j", async (answer) => {
    const { run } = chainOf({
      handler: () => Promise.resolve(answer),
    });
    await expect(run()).rejects.toMatchObject({ code: "INTERNAL" });
  });
});

describe("a call that has ended", () => {
  test.each(["authentication", "request", "authorization", "audit begins", "admission"])(
    "while it is at %s does not reach its handler",
    async (stage) => {
      const { run, seen, ended } = chainOf({
        waiting: [stage],
        at: (reached, call) => {
          if (reached === stage) call.abort(new ServiceError("CANCELLED"));
        },
      });
      await expect(run()).rejects.toMatchObject({ code: "CANCELLED" });
      for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
      expect(seen).not.toContain("handler");
      expect(seen).not.toContain("response");
      expect(seen.filter((one) => one === "observer ends")).toHaveLength(1);
      expect(ended.at(-1)?.code).toBe("CANCELLED");
    },
  );

  test.each([0, -1])(
    "before it began, since its client waits %i ms, reaches no stage",
    async (clientTimeoutMs) => {
      const { run, seen } = chainOf({ start: { clientTimeoutMs } });
      await expect(run()).rejects.toMatchObject({ code: "DEADLINE_EXCEEDED" });
      expect(seen).toEqual(["observer begins", "before", "observer ends"]);
    },
  );

  const hangs = () => new Promise(() => undefined);
  test.each<[string, MethodKind, TestChain["timeoutMs"] & object, number | undefined]>([
    ["by the service's timeout", "unary", { unary: 20, stream: LONG_MS }, undefined],
    [
      "by the service's timeout, which is shorter",
      "unary",
      { unary: 20, stream: LONG_MS },
      LONG_MS,
    ],
    ["by the client's timeout", "unary", { unary: LONG_MS, stream: LONG_MS }, 20],
    ["by the timeout of streams", "client_streaming", { unary: LONG_MS, stream: 20 }, undefined],
  ])("%s is notified", async (_, kind, timeoutMs, client) => {
    const start = client === undefined ? {} : { clientTimeoutMs: client };
    const { run, ended, seen, call } = chainOf({ handler: hangs, timeoutMs, kind, start });
    await expect(run()).rejects.toMatchObject({ code: "DEADLINE_EXCEEDED", status: 504 });
    expect(ended.map((error) => error?.code)).toEqual(["DEADLINE_EXCEEDED"]);
    // The outcome of the handler is not known: its event waits.
    expect(seen.slice(-2)).toEqual(["audit waits", "observer ends"]);
    expect(call.signal.aborted).toBe(true);
  });

  test("is not ended again by its deadline", async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    for (const start of [{}, { clientTimeoutMs: 20 }]) {
      const { run, call } = chainOf({ timeoutMs: { unary: 30, stream: 30 }, start });
      await run();
      await vi.advanceTimersByTimeAsync(60);
      expect(call.abortReason).toBeUndefined();
    }
  });
});

describe("once large responses have taken a turn of the event loop, a call with one waits", () => {
  const [LARGE_BYTES, MOST_STEPS] = [1024 * 1024, 100];
  /** Where the bytes are spent, and what comes next. */
  const WAITS: readonly [string, string][] = [
    ["request", "authorization"],
    ["admission", "after"],
    ["before again", "response"],
  ];
  const waitingAt = (spent: string) => {
    const tested = chainOf({
      at: (stage, { method }) => stage === spent && responsesOfTurn.spend(LARGE_BYTES, method),
    });
    return { ...tested, ended: tested.run() };
  };
  const restOfTurn = async (): Promise<void> => {
    for (let step = 0; step < MOST_STEPS; step++) await Promise.resolve();
  };
  const nextTurns = async (): Promise<void> => {
    while (responsesOfTurn.isSpent) await nextTurn();
    await nextTurn();
  };

  test.each(WAITS)("after the stage %s: %s comes in a later turn", async (spent, next) => {
    const { ended, seen } = waitingAt(spent);
    await restOfTurn();
    expect(seen.at(-1)).toBe(spent);
    await ended;
    expect(seen).toContain(next);
  });

  test.each(WAITS)("after the stage %s: no %s if it is aborted meanwhile", async (spent, next) => {
    const { ended, seen, call } = waitingAt(spent);
    await restOfTurn();
    call.abort(new ServiceError("CANCELLED"));
    await expect(ended).rejects.toMatchObject({ code: "CANCELLED" });
    await nextTurns();
    expect(seen).toContain(spent);
    expect(seen).not.toContain(next);
  });
});

describe("a stream of responses", () => {
  async function* two() {
    yield { id: "1" };
    yield { id: "2" };
  }
  const streamOf = async (of: TestChain) => {
    const tested = chainOf({ kind: "server_streaming", ...of });
    return {
      ...tested,
      stream: (await tested.run()) as AsyncGenerator<{ encoded: { id: string } }>,
    };
  };
  const idsOf = async (stream: AsyncIterable<{ encoded: { id: string } }>) => {
    const ids: string[] = [];
    for await (const { encoded } of stream) ids.push(encoded.id);
    return ids;
  };

  test("keeps its call open until it is read to its end", async () => {
    const { stream, seen, ended } = await streamOf({ handler: two });
    expect(seen).not.toContain("observer ends");
    expect(await idsOf(stream)).toEqual(["1", "2"]);
    expect(seen.slice(-4)).toEqual(["response", "response", "audit ends", "observer ends"]);
    expect(ended).toEqual([undefined, undefined]);
  });

  test("that fails sends its error after its messages", async () => {
    const { stream, ended } = await streamOf({
      async *handler() {
        yield { id: "1" };
        throw new TypeError("secret");
      },
    });
    const seen: string[] = [];
    const read = async () => {
      for await (const { encoded } of stream) seen.push(encoded.id);
    };
    await expect(read()).rejects.toMatchObject({ code: "INTERNAL", message: "internal error" });
    expect(seen).toEqual(["1"]);
    expect(ended.map((error) => error?.code)).toEqual(["INTERNAL", "INTERNAL"]);
  });

  test("that its reader leaves is cancelled, and its handler is notified", async () => {
    let isLeft = false;
    const { stream, ended } = await streamOf({
      async *handler() {
        try {
          yield* two();
        } finally {
          isLeft = true;
        }
      },
    });
    for await (const _ of stream) break;
    await expect.poll(() => isLeft, { message: "the handler leaves the stream" }).toBe(true);
    // The observer gets the caller's outcome, and audit that of the handler, which did not fail.
    await expect
      .poll(() => ended.map((error) => error?.code), {
        message: "audit and the observer have their outcomes",
      })
      .toEqual(["CANCELLED", undefined]);
  });

  test.each([1, 2])("that is stuck after %i messages ends with its call", async (count) => {
    const { stream, ended, seen, call } = await streamOf({
      async *handler() {
        for (let index = 0; index < count; index++) yield { id: `${index}` };
        await new Promise(() => undefined);
      },
    });
    const read = idsOf(stream);
    setTimeout(() => call.abort(new ServiceError("DEADLINE_EXCEEDED")), 20);
    await expect(read).rejects.toMatchObject({ code: "DEADLINE_EXCEEDED" });
    expect(ended.map((error) => error?.code)).toEqual(["DEADLINE_EXCEEDED"]);
    expect(seen).toContain("audit waits");
  });

  test("sends nothing more once its call has ended, even if it has more messages", async () => {
    const { stream, call } = await streamOf({ handler: two });
    expect((await stream.next()).value?.encoded.id).toBe("1");
    call.abort(new ServiceError("UNAVAILABLE"));
    await expect(stream.next()).rejects.toMatchObject({ code: "UNAVAILABLE" });
  });

  test("has the timeout of streams", async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const { stream } = await streamOf({
      handler: async function* () {
        await new Promise((resolve) => setTimeout(resolve, 60));
        yield { id: "1" };
      },
      timeoutMs: { unary: 20, stream: LONG_MS },
    });
    const ids = idsOf(stream);
    await vi.advanceTimersByTimeAsync(60);
    expect(await ids).toEqual(["1"]);
  });
});
