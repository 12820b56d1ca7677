/** The order of the start and the end of a server, with transports that only record it. */
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, test, vi } from "vitest";
import type { ServiceConfig } from "../../../../src/runtime/configuration/service-config.ts";
import { StartUpError } from "../../../../src/runtime/error/start-up-error.ts";
import { NO_EVENTS } from "../../../../src/runtime/events/runtime-events.ts";
import { createLogger } from "../../../../src/runtime/logging/create-logger.ts";
import { AccessLog } from "../../../../src/runtime/observers/access-log/access-log.ts";
import type { TransportServer } from "../../../../src/runtime/port/transport-server.ts";
import { CallsUnderWay } from "../../../../src/runtime/server/calls-under-way.ts";
import { Cleanup } from "../../../../src/runtime/server/cleanup.ts";
import { ServerReadiness } from "../../../../src/runtime/server/readiness.ts";
import { RunningServer } from "../../../../src/runtime/server/running-server.ts";
import { callOf } from "../../support/sample-call.ts";

/** A server whose parts record their calls. */
function serverOf(
  more: Record<string, Partial<TransportServer>> = {},
  shutdownMs = 60_000,
  delayMs = 0,
) {
  const notes: string[] = [];
  const readiness = new ServerReadiness();
  const logger = createLogger({
    destination: {
      write: (line) => void notes.push(`log ${JSON.parse(line).message}`),
      flushSync: () => void notes.push("log flushed"),
    },
  });
  const accessLog = new AccessLog(logger, {
    enabled: true,
    skipPaths: [],
    slowThresholdMs: 60_000,
  });
  const transports = ["http", "grpc", "metrics"].map(
    (name): TransportServer => ({
      name,
      async listen() {
        notes.push(`${name} listens, ${readiness.state}`);
        return { host: "127.0.0.1", port: 1 };
      },
      async drain() {
        notes.push(`${name} drains, ${readiness.state}`);
        await sleep(5);
        notes.push(`${name} drained`);
      },
      async close() {
        notes.push(`${name} closes`);
        await sleep(5);
        notes.push(`${name} closed`);
      },
      ...more[name],
    }),
  );
  const cleanup = new Cleanup();
  const calls = new CallsUnderWay();
  for (const part of ["opened first", "opened last"]) {
    cleanup.add(async () => {
      notes.push(`${part} closes`);
      await sleep(5);
      notes.push(`${part} closed`);
    });
  }
  const config = {
    server: {
      shutdown_timeout_ns: shutdownMs * 1_000_000,
      shutdown_delay_ns: delayMs * 1_000_000,
    },
  } as unknown as ServiceConfig;
  const instance = "replica-1";
  const parts = { config, instance, transports, calls, readiness, logger, accessLog, cleanup };
  const handlersSettled = async () => {};
  const none = {
    routes: undefined,
    audit: undefined,
    engine: undefined,
    jobs: undefined,
    requestListener: undefined,
    onStopping: () => void notes.push("stopping is announced"),
    events: NO_EVENTS,
  };
  const server = new RunningServer({ ...parts, ...none, handlersSettled });
  return { server, notes, readiness, accessLog, calls, cleanup, logger };
}

test("all listen before the server is ready", async () => {
  const { server, notes, readiness } = serverOf();
  expect(await server.start()).toMatchObject({
    http: { port: 1 },
    grpc: { port: 1 },
    metrics: { port: 1 },
  });
  expect(readiness.state).toBe("ready");
  expect(notes).toEqual([
    "http listens, starting",
    "grpc listens, starting",
    "metrics listens, starting",
    "log started",
  ]);
});

test("it is not ready first, then calls end, then connections, then the parts that calls need, the last opened first", async () => {
  const { server, notes, accessLog, readiness } = serverOf();
  await server.start();
  notes.length = 0;
  accessLog.end(callOf(), undefined);
  const stopped = server.stop();
  expect(readiness.state).toBe("draining");
  await stopped;
  expect(notes).toEqual([
    "stopping is announced",
    "http drains, draining",
    "grpc drains, draining",
    "log call",
    "http drained",
    "grpc drained",
    // Metrics are served in the meantime.
    ...["http", "grpc", "metrics"].flatMap((name) => [`${name} closes`, `${name} closed`]),
    ...["opened last", "opened first"].flatMap((part) => [`${part} closes`, `${part} closed`]),
    "log stopped",
    "log flushed",
  ]);
});

describe("with a delay, it is not ready and serves on;", () => {
  const SERVES = "log not ready, and still serving";
  afterEach(() => void vi.useRealTimers());

  /** A server that was asked to stop at a time that only the test moves on. */
  async function stopping(
    shutdownMs: number,
    delayMs: number,
    more: Parameters<typeof serverOf>[0] = {},
  ) {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    const parts = serverOf(more, shutdownMs, delayMs);
    await parts.server.start();
    parts.notes.length = 0;
    const stopped = parts.server.stop();
    return { ...parts, stopped };
  }

  test("what follows begins when it is over", async () => {
    const { readiness, notes, stopped } = await stopping(10_000, 3_000);
    expect(readiness.state).toBe("draining");
    await vi.advanceTimersByTimeAsync(2_999);
    expect(notes).toEqual([SERVES]);
    await vi.advanceTimersByTimeAsync(1);
    expect(notes.slice(0, 3)).toEqual([SERVES, "stopping is announced", "http drains, draining"]);
    await stopped;
    expect(notes.at(-2)).toBe("log stopped");
  });

  test("calls under way have the rest of the time", async () => {
    const hangs = { drain: () => new Promise<void>(() => undefined) };
    const { calls, notes, stopped } = await stopping(10_000, 3_000, { grpc: hangs });
    const call = callOf();
    calls.begin(call);
    await vi.advanceTimersByTimeAsync(9_999);
    expect(call.abortReason).toBeUndefined();
    await vi.advanceTimersByTimeAsync(1);
    expect(call.abortReason).toMatchObject({ code: "UNAVAILABLE" });
    expect(notes).toContain("log calls were still under way and are cut off");
    await vi.advanceTimersByTimeAsync(10_000);
    await stopped;
    expect(notes.at(-2)).toBe("log stopped");
  });

  test("an error ends it", async () => {
    const { server, notes, stopped } = await stopping(10_000, 3_000);
    await vi.advanceTimersByTimeAsync(100);
    expect(server.stop({ withoutDelay: true })).toBe(stopped);
    await stopped;
    expect(notes).toContain("grpc drained");
  });

  test("none after an error, or a start that failed", async () => {
    const failed = serverOf({}, 10_000, 3_000);
    await failed.server.start();
    await failed.server.stop({ withoutDelay: true });
    expect(failed.notes).not.toContain(SERVES);
    const refused = { listen: () => Promise.reject(new Error("taken")) };
    const other = serverOf({ http: refused }, 10_000, 3_000);
    await other.server.start().catch(() => undefined);
    expect(other.notes).not.toContain(SERVES);
    expect(other.notes).toContain("log stopped");
  });
});

test("the last lines of calls are written before the parts that calls need are closed", async () => {
  const { server, notes, accessLog } = serverOf({
    metrics: { close: async () => accessLog.end(callOf(), undefined) },
  });
  await server.start();
  await server.stop();
  expect(notes.indexOf("log call")).toBeGreaterThan(notes.indexOf("grpc closed"));
  expect(notes.indexOf("log call")).toBeLessThan(notes.indexOf("opened last closes"));
});

test("calls that do not end in time are reported, and a hanging call does not prevent the end", async () => {
  const hangs = { drain: () => new Promise<void>(() => undefined) };
  const { server, notes, calls } = serverOf({ grpc: hangs }, 30);
  await server.start();
  const call = callOf();
  calls.begin(call);
  await server.stop();
  expect(call.abortReason).toMatchObject({ code: "UNAVAILABLE" });
  expect(notes).toContain("log calls were still under way and are cut off");
  expect(notes.indexOf("http closes")).toBeGreaterThan(
    notes.indexOf("log calls were still under way and are cut off"),
  );
  expect(notes.at(-2)).toBe("log stopped");
});

test("calls that end in time are not cut off", async () => {
  const { server, notes, calls } = serverOf();
  await server.start();
  const call = callOf();
  calls.begin(call);
  await server.stop();
  expect(call.abortReason).toBeUndefined();
  expect(notes.join()).not.toContain("still under way");
});

test("a transport that cannot be closed is reported, and the others are closed", async () => {
  const { server, notes } = serverOf({ http: { close: () => Promise.reject(new Error("no")) } });
  await server.start();
  await server.stop();
  expect(notes).toContain("log a server could not be closed");
  expect(notes).toContain("metrics closed");
  expect(notes).toContain("opened first closed");
});

test("a transport that cannot listen ends the server, and all such are reported", async () => {
  const http = new StartUpError(["http is taken", "http is odd"]);
  const { server, notes, readiness } = serverOf({
    http: { listen: () => Promise.reject(http) },
    metrics: { listen: () => Promise.reject(new Error("metrics is taken")) },
  });
  const error = await server.start().catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(StartUpError);
  expect(error).toMatchObject({
    problems: ["http is taken", "http is odd", "metrics is taken"],
    cause: http,
  });
  expect(readiness.state).toBe("draining");
  expect(notes).toContain("grpc closed");
  expect(notes.at(-1)).toBe("log flushed");
});

test("a part that fails to close keeps no other part open, and is closed once", async () => {
  const { notes, cleanup, logger } = serverOf();
  cleanup.add(() => {
    throw new Error("password=hunter2");
  });
  await cleanup.run(logger);
  await cleanup.run(logger);
  expect(notes).toEqual([
    "log a part could not be closed",
    "opened last closes",
    "opened last closed",
    "opened first closes",
    "opened first closed",
  ]);
});
