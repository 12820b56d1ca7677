import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, expect, test, vi } from "vitest";
import { SILENT } from "../../../../src/common/logger.ts";
import { createMetrics } from "../../../../src/runtime/observers/metrics/metrics.ts";
import {
  metricProblems,
  type ServiceMetric,
} from "../../../../src/runtime/observers/metrics/service-metric.ts";
import { startVault } from "../../support/vault-server.ts";

afterEach(() => vi.useRealTimers());

const metric = (parts: Partial<ServiceMetric> = {}): ServiceMetric => ({
  name: "notes_waiting",
  help: "Notes that wait.",
  type: "gauge",
  read: () => [{ value: 1 }],
  ...parts,
});

test.each([
  ["an empty name", [metric({ name: "" })], 'the metric "" is not a name'],
  ["a name that is not one", [metric({ name: "Notes" })], 'the metric "Notes" is not a name'],
  ["a line break in a name", [metric({ name: "a\nb" })], "is not a name"],
  ["a name of the runtime", [metric({ name: "svc_access_jobs" })], "begins as those of svc-access"],
  ["a name of Node", [metric({ name: "process_cpu" })], "begins as those of svc-access and Node"],
  ["two of one name", [metric(), metric()], "there are two metrics notes_waiting: rename one"],
  ["a counter without _total", [metric({ type: "counter" })], "names of counters end in _total"],
  ["a gauge with _total", [metric({ name: "notes_total" })], "names of counters end in _total"],
  ["no help", [metric({ help: "" })], "has no help"],
])("%s is refused", (_, metrics, problem) => {
  expect(metricProblems(metrics).join()).toContain(problem);
});

async function textOf(one: ServiceMetric, warn = vi.fn()): Promise<string> {
  const metrics = createMetrics({ process: false });
  metrics.service(one, { ...SILENT, warn });
  return (await metrics.text()).body;
}

test("it is read at each scrape, with its labels [OBS-6]", async () => {
  let value = 3;
  const metrics = createMetrics({ process: false });
  const read = async () => [{ labels: { kind: 'a "quoted" one' }, value: value++ }];
  metrics.service(metric({ read }), SILENT);
  const line = (count: number) => `notes_waiting{kind="a \\"quoted\\" one"} ${count}`;
  expect((await metrics.text()).body).toContain(line(3));
  expect((await metrics.text()).body).toContain(line(4));
});

test.each([
  ["throws", () => expect.fail("down")],
  ["rejects", async () => Promise.reject(new Error("down"))],
])("one whose read %s is left out, and logged, and others are there", async (_, read) => {
  const warn = vi.fn();
  const text = await textOf(metric({ read: read as never }), warn);
  expect(text).not.toMatch(/^notes_waiting/m);
  expect(text).toContain("svc_access_rate_limited_total");
  expect(warn).toHaveBeenCalledOnce();
});

test("one that is read for too long does not hold up the scrape", async () => {
  vi.useFakeTimers();
  const warn = vi.fn();
  const text = textOf(metric({ read: () => sleep(60_000, []) }), warn);
  await vi.advanceTimersByTimeAsync(1000);
  expect(await text).not.toMatch(/^notes_waiting/m);
  expect(warn).toHaveBeenCalledOnce();
});

test("of too many samples, the first count", async () => {
  const many = Array.from({ length: 2000 }, (_, n) => ({ labels: { n: `${n}` }, value: n }));
  const text = await textOf(metric({ read: () => many }));
  expect(text.match(/^notes_waiting\{/gm)).toHaveLength(1000);
});

test("a server serves those of its options, and refuses two of one name", async () => {
  const vault = await startVault({ metrics: [metric()] });
  const text = await (await fetch(`http://127.0.0.1:${vault.metrics}/metrics`)).text();
  await vault.stop();
  expect(text).toContain("# HELP notes_waiting Notes that wait.");
  expect(text).toContain("\nnotes_waiting 1\n");
  await expect(startVault({ metrics: [metric(), metric()] })).rejects.toThrow("two metrics");
});
