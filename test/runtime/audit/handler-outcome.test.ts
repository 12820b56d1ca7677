import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, test, vi } from "vitest";
import { openDatabase } from "../../../src/database/service/open-database.ts";
import type { AuditData } from "../../../src/runtime/audit/event/audit-event.ts";
import { type AuditLog, StoredAuditLog } from "../../../src/runtime/audit/log/audit-log.ts";
import type { AuditTables } from "../../../src/runtime/audit/tables/audit-table.ts";
import type { AnyHandler, BoundMethod } from "../../../src/runtime/binding/bound-method.ts";
import type { Call } from "../../../src/runtime/call/call.ts";
import type { Interceptor } from "../../../src/runtime/chain/interceptor.ts";
import { ServiceError } from "../../../src/runtime/error/service-error.ts";
import { SILENT, settingsOf } from "../../database/settings.ts";
import { serviceMethod } from "../authorization/messages.ts";
import { boundMethod, newCall } from "../support/call.ts";
import { openChain } from "../support/open-chain.ts";
import { auditOf } from "./audits.ts";

const folder = mkdtempSync(join(tmpdir(), "svc-access-audit-"));
let databases = 0;
const database = await openDatabase<unknown>(settingsOf({ file: join(folder, "audit.db") }), {
  logger: SILENT,
});
const { audit } = await auditOf(database, []);
const log = audit.log as AuditLog;
afterEach(() => void vi.useRealTimers());
afterAll(async () => {
  await audit.close();
  await database.close();
  rmSync(folder, { recursive: true });
});

/** A promise that the test resolves. */
function signal<Value = void>() {
  let resolve: (value: Value) => void = () => undefined;
  let reject: (error: unknown) => void = () => undefined;
  const promise = new Promise<Value>((done, fail) => {
    resolve = done;
    reject = fail;
  });
  return { promise, resolve, reject };
}

interface Run {
  readonly kind?: BoundMethod["kind"];
  readonly isWrite?: boolean;
  readonly before?: readonly Interceptor[];
  readonly after?: readonly Interceptor[];
  readonly of?: typeof audit;
  readonly encode?: () => unknown;
}

let calls = 0;

/** Runs a call of an audited RPC. */
function start(handler: AnyHandler, { kind, isWrite, before, after, of, encode }: Run = {}) {
  const requestId = `call-${++calls}`;
  const method = boundMethod({
    kind: kind ?? "unary",
    isWrite: isWrite ?? true,
    descriptor: serviceMethod("One"),
    policy: {
      exposure: "PUBLIC",
      publish: true,
      audit: { event: "doc.write", riskLevel: "LOW" },
    },
    handler,
  });
  const call = newCall({
    method,
    requestId,
    httpMethod: "POST",
    ...(encode === undefined ? {} : { encodeResponse: encode }),
  });
  const chain = openChain({ audit: (of ?? audit).trail, before: before ?? [], after: after ?? [] });
  const response = chain.run(call) as Promise<AsyncIterable<unknown>>;
  const answer = response.then(
    () => "OK",
    (error: ServiceError) => error.code,
  );
  return { call, answer, response, data: () => dataOf(requestId), requestId };
}

async function dataOf(requestId: string): Promise<Partial<AuditData> | undefined> {
  const { events } = await log.list({ requestId });
  expect(events.length).toBeLessThan(2);
  return events[0]?.data;
}

const gone = new ServiceError("CANCELLED");
const late = new ServiceError("DEADLINE_EXCEEDED");
const ending = new ServiceError("UNAVAILABLE", "the server is shutting down");

/** Reasons to end a call early, and the members of its event beside the outcome of the handler. */
const ENDS: [string, ServiceError, Partial<AuditData>][] = [
  ["whose caller hung up", gone, { caller_gone: true }],
  ["whose time was up", late, { answered: { status: 504, code: "DEADLINE_EXCEEDED" } }],
  [
    "that was cut off when the server closed",
    ending,
    { answered: { status: 503, code: "UNAVAILABLE" } },
  ],
];

describe.each(ENDS)("the event of a call %s", (_, reason, notified) => {
  test.each([true, false])("has the success of the handler (write: %s)", async (isWrite) => {
    const [entered, finish] = [signal(), signal<unknown>()];
    const { call, answer, data } = start(
      () => {
        entered.resolve();
        return finish.promise;
      },
      { isWrite },
    );
    await entered.promise;
    call.abort(reason);
    expect(await answer).toBe(reason.code);
    // Its outcome is not known yet.
    expect((await data())?.state).toBe(isWrite ? "pending" : undefined);
    finish.resolve({});
    await expect
      .poll(async () => (await data())?.state, {
        message: "the event has the outcome of the handler",
      })
      .toBe("completed");
    expect(await data()).toMatchObject({ code: "OK", status: 200, ...notified });
  });

  test("has the handler's own failure", async () => {
    const [entered, finish] = [signal(), signal<unknown>()];
    const { call, answer, data } = start(() => {
      entered.resolve();
      return finish.promise;
    });
    await entered.promise;
    call.abort(reason);
    expect(await answer).toBe(reason.code);
    finish.reject(new ServiceError("ALREADY_EXISTS"));
    await expect
      .poll(async () => (await data())?.state, {
        message: "the event has the outcome of the handler",
      })
      .toBe("completed");
    expect(await data()).toMatchObject({ code: "ALREADY_EXISTS", status: 409, ...notified });
  });

  test.each<[string, (call: Call) => unknown]>([
    ["by the signal's reason", (call) => call.signal.reason],
    ["by an AbortError", () => new DOMException("aborted", "AbortError")],
  ])("says that the handler stopped %s", async (_, thrown) => {
    const entered = signal();
    const { call, answer, data } = start(async (_, context: Call) => {
      entered.resolve();
      await new Promise((resolve) => context.signal.addEventListener("abort", resolve));
      throw thrown(context);
    });
    await entered.promise;
    call.abort(reason);
    expect(await answer).toBe(reason.code);
    await expect
      .poll(async () => (await data())?.state, {
        message: "the event has the outcome of the handler",
      })
      .toBe("completed");
    const event = await data();
    expect(event?.code).toBe(reason.code);
    expect(event?.caller_gone).toBe(reason === gone ? true : undefined);
    expect(event?.answered).toBeUndefined();
  });

  test("has the success of a stream that was written to its end", async () => {
    const [entered, finish] = [signal(), signal()];
    const run = start(
      async function* () {
        yield {};
        entered.resolve();
        await finish.promise;
      },
      { kind: "server_streaming" },
    );
    const { call, requestId } = run;
    const stream = await run.response;
    const read = (async () => {
      for await (const _ of stream);
    })().catch((error: ServiceError) => error.code);
    await entered.promise;
    call.abort(reason);
    expect(await read).toBe(reason.code);
    finish.resolve();
    await expect
      .poll(async () => (await dataOf(requestId))?.state, {
        message: "the event has the outcome of the stream",
      })
      .toBe("completed");
    expect(await dataOf(requestId)).toMatchObject({ code: "OK", ...notified });
  });

  test("marks a stream that was cut off", async () => {
    const entered = signal();
    let wasLeft = false;
    const run = start(
      async function* (_, context: Call) {
        try {
          yield {};
          entered.resolve();
          await new Promise((resolve) => context.signal.addEventListener("abort", resolve));
          yield {};
          yield {};
        } finally {
          wasLeft = true;
        }
      },
      { kind: "bidi_streaming" },
    );
    const stream = await run.response;
    const read = (async () => {
      for await (const _ of stream);
    })().catch((error: ServiceError) => error.code);
    await entered.promise;
    run.call.abort(reason);
    expect(await read).toBe(reason.code);
    await expect
      .poll(async () => (await dataOf(run.requestId))?.state, {
        message: "the event has the outcome of the stream",
      })
      .toBe("completed");
    expect(wasLeft).toBe(true);
    // What it wrote before a message remains.
    expect(await dataOf(run.requestId)).toMatchObject({ code: "OK", cut_off: true, ...notified });
  });

  test("of a stream of requests has the outcome of the handler", async () => {
    const [entered, finish] = [signal(), signal<unknown>()];
    const { call, answer, data } = start(
      () => {
        entered.resolve();
        return finish.promise;
      },
      { kind: "client_streaming" },
    );
    await entered.promise;
    call.abort(reason);
    expect(await answer).toBe(reason.code);
    finish.resolve({});
    await expect
      .poll(async () => (await data())?.code, {
        message: "the event has the outcome of the stream",
      })
      .toBe("OK");
    expect(await data()).toMatchObject(notified);
  });
});

test("if a caller leaves a stream, the event has caller_gone and the handler is notified", async () => {
  let heard: unknown;
  const run = start(
    async function* (_, context: Call) {
      try {
        for (;;) yield {};
      } finally {
        heard = context.signal.reason;
      }
    },
    { kind: "server_streaming" },
  );
  for await (const _ of await run.response) break;
  await expect
    .poll(async () => (await dataOf(run.requestId))?.state, {
      message: "the event has the outcome of the stream",
    })
    .toBe("completed");
  expect(await dataOf(run.requestId)).toMatchObject({
    code: "OK",
    cut_off: true,
    caller_gone: true,
  });
  expect(heard).toMatchObject({ code: "CANCELLED" });
});

test("a response that cannot be encoded does not change the outcome of the handler", async () => {
  const encode = () => {
    throw new RangeError("too large");
  };
  const { answer, data } = start(async () => ({}), { encode });
  expect(await answer).toBe("INTERNAL");
  expect(await data()).toMatchObject({
    state: "completed",
    code: "OK",
    answered: { status: 500, code: "INTERNAL" },
  });
});

test("an interceptor that gives up does not hide the outcome of the handler, and starts nothing more", async () => {
  const [entered, finish, again] = [signal(), signal<unknown>(), signal()];
  let runs = 0;
  let refused: unknown;
  const impatient: Interceptor = async (_, next) => {
    void next();
    await entered.promise;
    void again.promise.then(() => next()).catch((error: unknown) => (refused = error));
    throw new ServiceError("UNAVAILABLE");
  };
  const { answer, data } = start(
    () => {
      runs++;
      entered.resolve();
      return finish.promise;
    },
    { after: [impatient] },
  );
  expect(await answer).toBe("UNAVAILABLE");
  expect((await data())?.state).toBe("pending");
  again.resolve();
  await expect.poll(() => refused, { message: "the interceptor gave up" }).toBeDefined();
  finish.resolve({});
  await expect
    .poll(async () => (await data())?.state, {
      message: "the event has the outcome of the handler",
    })
    .toBe("completed");
  expect(await data()).toMatchObject({
    code: "OK",
    answered: { status: 503, code: "UNAVAILABLE" },
  });
  expect(runs).toBe(1);
});

test("no handler starts after its caller has gone, even after an interceptor that waited", async () => {
  const [entered, goOn] = [signal(), signal()];
  let runs = 0;
  const slow: Interceptor = async (_, next) => {
    entered.resolve();
    await goOn.promise;
    return next();
  };
  const { call, answer, data } = start(
    () => {
      runs++;
      return {};
    },
    { after: [slow] },
  );
  await entered.promise;
  call.abort(gone);
  expect(await answer).toBe("CANCELLED");
  expect(await data()).toMatchObject({ state: "completed", code: "CANCELLED", caller_gone: true });
  goOn.resolve();
  await new Promise(setImmediate);
  expect(runs).toBe(0);
});

describe("a handler that never ends", () => {
  async function hung(isWrite: boolean) {
    const own = await openDatabase<unknown>(
      settingsOf({ file: join(folder, `hung-${++databases}.db`) }),
      { logger: SILENT },
    );
    const { audit: of } = await auditOf(own, []);
    const entered = signal();
    const { call, answer } = start(
      () => {
        entered.resolve();
        return new Promise(() => undefined);
      },
      { of, isWrite },
    );
    await entered.promise;
    call.abort(gone);
    await answer;
    const stateAt = async (time: number) => {
      const { events } = await new StoredAuditLog(own.as<AuditTables>(), () => time).list();
      return events.map(({ data }) => data.state).join();
    };
    return { of, own, call, stateAt };
  }

  test.each([true, false])("is pending while its process lives (write: %s)", async (isWrite) => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "Date"] });
    const { of, own, call, stateAt } = await hung(isWrite);
    const begin = Date.now();
    for (let at = 0; at < 200_000; at += 1000) {
      await vi.advanceTimersByTimeAsync(1000);
      // The event of the timer is stored before the next second.
      for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
    }
    expect(Date.now()).toBeGreaterThan(Math.min(begin + 150_000, call.deadline + 30_000));
    expect(await stateAt(Date.now())).toBe("pending");
    // From now on the process seems to have died.
    expect(await stateAt(Date.now() + 60_000)).toBe("unknown");
    await of.close();
    await own.close();
  });

  test.each([true, false])(
    "is unknown once its process has ended (write: %s) [AUDIT-2]",
    async (isWrite) => {
      const { of, own, stateAt } = await hung(isWrite);
      await of.close();
      expect(await stateAt(Date.now() + 1)).toBe("unknown");
      await own.close();
    },
  );
});

test("the audit is complete once no handler outlives its call", async () => {
  const [entered, finish] = [signal(), signal<unknown>()];
  const { call, answer } = start(() => {
    entered.resolve();
    return finish.promise;
  });
  await audit.settled();
  await entered.promise;
  call.abort(gone);
  await answer;
  let isSettled = false;
  const settled = audit.settled().then(() => {
    isSettled = true;
  });
  await new Promise(setImmediate);
  expect(isSettled).toBe(false);
  finish.resolve({});
  await settled;
});

describe("the success of a stream's handler before its caller left is kept:", () => {
  const LEFT = { state: "completed", code: "OK", status: 200, cut_off: true, caller_gone: true };

  test("it wrote, and then yielded its first message after the caller had left", async () => {
    const [entered, finish] = [signal(), signal()];
    const run = start(
      async function* () {
        entered.resolve();
        await finish.promise;
        yield {};
      },
      { kind: "server_streaming" },
    );
    const stream = (await run.response)[Symbol.asyncIterator]();
    const read = stream.next().catch((error: ServiceError) => error.code);
    await entered.promise;
    run.call.abort(gone);
    expect(await read).toBe("CANCELLED");
    finish.resolve();
    await expect
      .poll(async () => (await dataOf(run.requestId))?.state, {
        message: "the event has the outcome of the stream",
      })
      .toBe("completed");
    expect(await dataOf(run.requestId)).toMatchObject(LEFT);
  });

  test("it wrote when it was called, and the caller left before the first read", async () => {
    const run = start(
      () =>
        (async function* () {
          yield {};
        })(),
      { kind: "server_streaming" },
    );
    await (await run.response)[Symbol.asyncIterator]().return?.();
    expect(await dataOf(run.requestId)).toMatchObject(LEFT);
  });

  test("but if it fails while it is ended, that is the outcome", async () => {
    const run = start(
      async function* () {
        try {
          for (;;) yield {};
        } finally {
          // biome-ignore lint/correctness/noUnsafeFinally: a handler whose transaction cannot be committed
          throw new ServiceError("FAILED_PRECONDITION");
        }
      },
      { kind: "server_streaming" },
    );
    for await (const _ of await run.response) break;
    await expect
      .poll(async () => (await dataOf(run.requestId))?.state, {
        message: "the event has the outcome of the stream",
      })
      .toBe("completed");
    const event = await dataOf(run.requestId);
    expect(event).toMatchObject({ code: "FAILED_PRECONDITION", caller_gone: true });
    expect(event?.cut_off).toBeUndefined();
  });
});

describe("if a handler runs several times, its event has the success:", () => {
  const aborted = () => Promise.reject(new ServiceError("FAILED_PRECONDITION"));
  const wrote = () => Promise.resolve({});

  /** A handler whose runs the test ends in any order, by number. */
  function runs(...ends: (() => Promise<unknown>)[]) {
    const gates = ends.map(() => signal());
    let count = 0;
    const handler = async () => {
      const run = count++;
      await gates[run]?.promise;
      return ends[run]?.();
    };
    const twice: Interceptor = async (_, next) => {
      const both = [next(), next()];
      return Promise.any(both);
    };
    return { handler, twice, gates };
  }

  describe.each(["before", "after"] as const)("with an interceptor at the place %s", (place) => {
    test.each<[string, (() => Promise<unknown>)[], number[]]>([
      ["the first succeeds, then the second fails", [wrote, aborted], [0, 1]],
      ["the first succeeds after the second has failed", [wrote, aborted], [1, 0]],
      ["the second succeeds, then the first fails", [aborted, wrote], [1, 0]],
    ])("%s", async (_, ends, order) => {
      const { handler, twice, gates } = runs(...ends);
      const { answer, data } = start(handler, { [place]: [twice] });
      for (const run of order) {
        gates[run]?.resolve();
        await new Promise(setImmediate);
      }
      expect(await answer).toBe("OK");
      await expect
        .poll(async () => (await data())?.state, {
          message: "the event has the outcome of the handler",
        })
        .toBe("completed");
      expect(await data()).toMatchObject({ code: "OK", status: 200 });
    });

    test("it succeeded, is called again and fails: the caller gets the failure", async () => {
      let count = 0;
      const again: Interceptor = async (_, next) => {
        await next();
        return next();
      };
      const { answer, data } = start(
        async () => {
          if (++count === 2) throw new ServiceError("ALREADY_EXISTS");
          return {};
        },
        { [place]: [again] },
      );
      expect(await answer).toBe("ALREADY_EXISTS");
      expect(await data()).toMatchObject({
        code: "OK",
        answered: { code: "ALREADY_EXISTS", status: 409 },
      });
    });

    test("the call ended, and a run that nothing waits for succeeds afterwards", async () => {
      const [entered, finish] = [signal(), signal<unknown>()];
      const retry: Interceptor = async (_, next) => {
        try {
          return await next();
        } catch {
          return await next();
        }
      };
      const { call, answer, data } = start(
        () => {
          entered.resolve();
          return finish.promise;
        },
        { [place]: [retry] },
      );
      await entered.promise;
      call.abort(late);
      expect(await answer).toBe("DEADLINE_EXCEEDED");
      expect((await data())?.state).toBe("pending");
      finish.resolve({});
      await expect
        .poll(async () => (await data())?.state, {
          message: "the event has the outcome of the handler",
        })
        .toBe("completed");
      expect(await data()).toMatchObject({ code: "OK", answered: { status: 504 } });
    });
  });
});
