import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test, vi } from "vitest";
import { READY_TIMEOUT } from "../../../src/database/postgres/postgres-database.ts";
import { createLogger } from "../../../src/runtime/logging/create-logger.ts";
import { ServerReadiness, TIMEOUT_MS } from "../../../src/runtime/server/readiness.ts";
import { linesOf } from "../support/sample-call.ts";
import { startVault } from "../support/vault-server.ts";

const ask = (readiness: ServerReadiness, path: string) =>
  readiness
    .probes()
    .find((probe) => probe.path === path)
    ?.handle();

test("a process is healthy from its start to its end", async () => {
  const readiness = new ServerReadiness();
  const healthy = { status: 200, body: { status: "ok" } };
  expect(await ask(readiness, "/healthz")).toEqual(healthy);
  readiness.draining();
  expect(await ask(readiness, "/healthz")).toEqual(healthy);
});

test("a process is ready from the end of its start to the beginning of its shutdown [OBS-1]", async () => {
  const readiness = new ServerReadiness();
  expect(await ask(readiness, "/readyz")).toEqual({
    status: 503,
    body: { status: "not_ready", reasons: ["starting"] },
  });
  expect(readiness.state).toBe("starting");
  readiness.started();
  // The health service of gRPC uses this.
  expect(readiness.state).toBe("ready");
  expect(await ask(readiness, "/readyz")).toEqual({ status: 200, body: { status: "ready" } });
  readiness.draining();
  const draining = { status: 503, body: { status: "not_ready", reasons: ["draining"] } };
  expect(await ask(readiness, "/readyz")).toEqual(draining);
  readiness.started();
  expect(readiness.state).toBe("draining");
});

test("a starting process reports what it waits for", async () => {
  const readiness = new ServerReadiness();
  readiness.add("database", () => "not there");
  expect(await readiness.reasons()).toEqual(["starting", "database: not there"]);
});

test("a detail is shown, and the process is ready", async () => {
  const readiness = new ServerReadiness({ cacheMs: 0 });
  readiness.add("search", async () => ({ detail: "token=SECRET is old" }));
  readiness.started();
  const details = ["search: token=*** is old"];
  expect(await ask(readiness, "/readyz")).toEqual({
    status: 200,
    body: { status: "ready", details },
  });
  expect(await readiness.reasons()).toEqual([]);
  readiness.add("database", () => "not there");
  const reasons = ["database: not there"];
  expect(await ask(readiness, "/readyz")).toEqual({
    status: 503,
    body: { status: "not_ready", reasons, details },
  });
  readiness.draining();
  expect(await ask(readiness, "/readyz")).toEqual({
    status: 503,
    body: { status: "not_ready", reasons: ["draining"] },
  });
});

test("a check that is added later runs at once", async () => {
  const readiness = new ServerReadiness({ cacheMs: 60_000 });
  readiness.started();
  expect(await readiness.reasons()).toEqual([]);
  readiness.add("registry", () => "not there");
  expect(await readiness.reasons()).toEqual(["registry: not there"]);
});

test("by default a check has a short timeout, and its result is reused for a short time", async () => {
  const readiness = new ServerReadiness();
  let asked = 0;
  readiness.add("database", async () => {
    asked++;
    await sleep(30);
    return undefined;
  });
  readiness.started();
  expect(await readiness.reasons()).toEqual([]);
  expect(await readiness.reasons()).toEqual([]);
  expect(asked).toBe(1);
});

test("the reason of a failed check is logged without secrets", async () => {
  const { destination, lines, parsed } = linesOf();
  const readiness = new ServerReadiness({ logger: createLogger({ level: "debug", destination }) });
  readiness.add("engine", () => Promise.reject(new Error("no route, password=SECRET")));
  await readiness.reasons();
  expect(parsed()).toMatchObject([
    { level: "debug", check: "engine", error: { message: "no route, password=***" } },
  ]);
  expect(lines.join("")).not.toContain("SECRET");
});

test("all missing parts are named, without details of the failure [OBS-1]", async () => {
  const readiness = new ServerReadiness({ timeoutMs: 50 });
  let signal: AbortSignal | undefined;
  readiness.add("database", () => "token=SECRET is not there");
  readiness.add("engine", () => {
    throw new Error("password=SECRET");
  });
  readiness.add("registry", async () => Promise.reject(new Error("SECRET")));
  readiness.add("audit", (given) => {
    signal = given;
    return new Promise(() => undefined);
  });
  readiness.add("fine", async () => undefined);
  readiness.started();
  expect(await ask(readiness, "/readyz")).toEqual({
    status: 503,
    body: {
      status: "not_ready",
      reasons: [
        "database: token=*** is not there",
        "engine: fails",
        "registry: fails",
        "audit: does not answer",
      ],
    },
  });
  expect(signal?.aborted).toBe(true);
});

test("PostgreSQL has less time than a check, so that its reason is reported", () => {
  expect(READY_TIMEOUT).toBeLessThan(TIMEOUT_MS);
});

test("many probes share one run of the checks, which run again after a while", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const readiness = new ServerReadiness({ cacheMs: 60 });
  let asked = 0;
  let missing: string | undefined = "gone";
  readiness.add("database", () => {
    asked++;
    return missing;
  });
  readiness.started();
  await Promise.all(Array.from({ length: 50 }, () => ask(readiness, "/readyz")));
  expect(asked).toBe(1);
  missing = undefined;
  expect((await ask(readiness, "/readyz"))?.status).toBe(503);
  vi.advanceTimersByTime(60);
  expect((await ask(readiness, "/readyz"))?.status).toBe(200);
  expect(asked).toBe(2);
});

test("only changes are logged", async () => {
  const { destination, parsed } = linesOf();
  const readiness = new ServerReadiness({ cacheMs: 0, logger: createLogger({ destination }) });
  let missing: string | undefined;
  readiness.add("database", () => missing);
  readiness.started();
  for (const state of [undefined, "gone", "gone", undefined, undefined]) {
    missing = state;
    await ask(readiness, "/readyz");
  }
  expect(parsed().map(({ level, message }) => `${level} ${message}`)).toEqual([
    "warn not ready",
    "info ready",
  ]);
  expect(parsed()[0].reasons).toEqual(["database: gone"]);
});

test("it is known without a probe, from the same run of the checks, and logged [OBS-1]", async () => {
  const { destination, parsed } = linesOf();
  const readiness = new ServerReadiness({
    cacheMs: 60_000,
    logger: createLogger({ destination }),
  });
  let asked = 0;
  readiness.add("database", () => {
    asked++;
    return "gone";
  });
  readiness.started();
  expect(await readiness.isReady()).toBe(false);
  expect((await ask(readiness, "/readyz"))?.status).toBe(503);
  expect(await readiness.isReady()).toBe(false);
  expect(asked).toBe(1);
  expect(parsed()).toMatchObject([{ message: "not ready", reasons: ["database: gone"] }]);
  const other = new ServerReadiness();
  expect(await other.isReady()).toBe(false);
  other.started();
  expect(await other.isReady()).toBe(true);
  other.draining();
  expect(await other.isReady()).toBe(false);
});

test.each([
  ["1, ready", undefined, 200, "1"],
  ["1, with a detail", { detail: "is old" }, 200, "1"],
  ["0, with a dependency that is down", "is gone", 503, "0"],
])("the metrics of a server say what /readyz does: %s [OBS-7]", async (_, found, status, value) => {
  const vault = await startVault({ readiness: { search: () => found } });
  try {
    const metrics = await fetch(`http://127.0.0.1:${vault.metrics}/metrics`);
    expect(/^svc_access_ready (\S+)$/m.exec(await metrics.text())?.[1]).toBe(value);
    expect((await fetch(`http://127.0.0.1:${vault.http}/readyz`)).status).toBe(status);
  } finally {
    await vault.stop();
  }
});
