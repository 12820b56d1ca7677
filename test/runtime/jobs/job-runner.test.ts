import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { NO_EVENTS } from "../../../src/runtime/events/runtime-events.ts";
import type { TimedJob } from "../../../src/runtime/jobs/job.ts";
import { JobRunner, type Lease } from "../../../src/runtime/jobs/job-runner.ts";
import { SILENT } from "../../database/settings.ts";

beforeEach(() => {
  vi.useFakeTimers();
  // Without jitter: half of its range.
  vi.spyOn(Math, "random").mockReturnValue(0.5);
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const MINUTE = 60_000;

function runnerOf(of: Partial<TimedJob>, lease?: Lease) {
  const outcomes: string[] = [];
  const lines: string[] = [];
  const log = (fields: object, message: string) =>
    void lines.push(`${message} ${(fields as { error?: Error }).error?.message ?? ""}`.trim());
  const job: TimedJob = {
    name: "clean",
    everyMs: MINUTE,
    deadlineMs: MINUTE,
    run: async () => undefined,
    ...of,
  };
  const runner = new JobRunner(job, {
    logger: { ...SILENT, error: log, warn: log },
    events: { ...NO_EVENTS, job: (_, outcome) => void outcomes.push(outcome) },
    ...(lease === undefined ? {} : { lease: { of: lease, renewMs: 10_000, heldMs: 30_000 } }),
  });
  return { runner, outcomes, lines };
}

/** A job whose runs end when the test ends them. */
function controlled() {
  const ends: { resolve: () => void; reject: (error: Error) => void; signal: AbortSignal }[] = [];
  const run = (signal: AbortSignal) =>
    new Promise<void>((resolve, reject) => ends.push({ resolve, reject, signal }));
  return { ends, run };
}

test("runs soon, and then at its interval", async () => {
  const times: number[] = [];
  const begin = performance.now();
  const { runner, outcomes } = runnerOf({ run: () => void times.push(performance.now() - begin) });
  runner.start();
  await vi.advanceTimersByTimeAsync(3 * MINUTE);
  expect(times.map(Math.round)).toEqual([5000, 65_000, 125_000]);
  expect(outcomes).toEqual(["succeeded", "succeeded", "succeeded"]);
  await runner.stop();
  await vi.advanceTimersByTimeAsync(3 * MINUTE);
  expect(times).toHaveLength(3);
});

test.each([
  [0, 54_000],
  [1, 66_000],
])("with a random number of %d the next one is after %d ms", async (random, expected) => {
  vi.mocked(Math.random).mockReturnValue(random);
  const times: number[] = [];
  const { runner } = runnerOf({ run: () => void times.push(performance.now()) });
  runner.start();
  await vi.advanceTimersByTimeAsync(2 * MINUTE);
  expect(Math.round((times[1] ?? 0) - (times[0] ?? 0))).toBe(expected);
  await runner.stop();
});

test("a run that is late delays the next one: they never overlap", async () => {
  const { ends, run } = controlled();
  const { runner } = runnerOf({ run, deadlineMs: 10 * MINUTE });
  runner.start();
  await vi.advanceTimersByTimeAsync(5 * MINUTE);
  expect(ends).toHaveLength(1);
  ends[0]?.resolve();
  await vi.advanceTimersByTimeAsync(6000);
  expect(ends).toHaveLength(2);
  ends[1]?.resolve();
  await runner.stop();
});

test.each([
  [
    "throws",
    () => {
      throw new Error("no disk");
    },
  ],
  ["rejects", () => Promise.reject(new Error("no disk"))],
])("one that %s is logged and counted, and runs again", async (_, run) => {
  const { runner, outcomes, lines } = runnerOf({ run });
  runner.start();
  await vi.advanceTimersByTimeAsync(70_000);
  expect(outcomes).toEqual(["failed", "failed"]);
  expect(lines).toEqual(["a job has failed no disk", "a job has failed no disk"]);
  await runner.stop();
});

test("one that passes its deadline is aborted, counted once, and not run beside itself", async () => {
  const { ends, run } = controlled();
  const { runner, outcomes, lines } = runnerOf({ run, deadlineMs: 1000 });
  runner.start();
  await vi.advanceTimersByTimeAsync(7000);
  expect(ends[0]?.signal.reason).toMatchObject({
    message: "the job clean takes longer than 1000 ms",
  });
  expect(outcomes).toEqual(["timed_out"]);
  expect(lines).toEqual(["a job takes too long: its signal is aborted"]);
  await vi.advanceTimersByTimeAsync(5 * MINUTE);
  expect(ends).toHaveLength(1);
  ends[0]?.reject(new Error("aborted"));
  await vi.advanceTimersByTimeAsync(MINUTE);
  expect(outcomes).toEqual(["timed_out", "timed_out"]);
  for (const { resolve } of ends) resolve();
  await runner.stop();
});

test("stop makes a run end and waits for it; that is not a failure", async () => {
  const { ends, run } = controlled();
  const { runner, outcomes, lines } = runnerOf({ run });
  runner.start();
  await vi.advanceTimersByTimeAsync(6000);
  let isStopped = false;
  const stopping = runner.stop().then(() => {
    isStopped = true;
  });
  await vi.advanceTimersByTimeAsync(1000);
  expect(isStopped).toBe(false);
  expect(ends[0]?.signal.aborted).toBe(true);
  ends[0]?.reject(new Error("aborted"));
  await stopping;
  expect(outcomes).toEqual([]);
  expect(lines).toEqual([]);
});

test("one that was never started stops at once", async () => {
  await runnerOf({}).runner.stop();
});

describe("with a lease", () => {
  /** What a lease was asked, in order; the first answers of `take` and `renew` are given. */
  function leaseOf(answers: { take?: unknown[]; renew?: unknown[] }) {
    const asked: unknown[] = [];
    const next = (list: unknown[] | undefined, otherwise: unknown) => {
      const answer = list?.shift() ?? otherwise;
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer as never);
    };
    const lease: Lease = {
      take: () => (asked.push("take"), next(answers.take, 0)),
      renew: () => (asked.push("renew"), next(answers.renew, true)),
      giveBack: async (dueMs) => void asked.push(["giveBack", dueMs]),
    };
    return { lease, asked };
  }

  test("waits as long as the lease says, and gives it back until the next run is due", async () => {
    const { lease, asked } = leaseOf({ take: [20_000] });
    const { runner, outcomes } = runnerOf({}, lease);
    runner.start();
    await vi.advanceTimersByTimeAsync(24_000);
    expect(asked).toEqual(["take"]);
    await vi.advanceTimersByTimeAsync(3000);
    expect(asked).toEqual(["take", "take", ["giveBack", 60_000]]);
    expect(outcomes).toEqual(["succeeded"]);
    await runner.stop();
  });

  test("is renewed while the job runs; what was cut off by a stop is due at once", async () => {
    const { lease, asked } = leaseOf({});
    const { ends, run } = controlled();
    const { runner } = runnerOf({ run }, lease);
    runner.start();
    await vi.advanceTimersByTimeAsync(26_000);
    expect(asked).toEqual(["take", "renew", "renew"]);
    const stopping = runner.stop();
    ends[0]?.resolve();
    await stopping;
    expect(asked.at(-1)).toEqual(["giveBack", undefined]);
  });

  test.each([
    ["another process has it", { renew: [false] }, 16_000, "another process has taken the lease"],
    [
      "it cannot be renewed for so long that it ends",
      { renew: [new Error("down"), new Error("down"), new Error("down")] },
      36_000,
      "the lease could not be renewed",
    ],
  ])("the run is aborted if %s", async (_, answers, after, reason) => {
    const { lease } = leaseOf(answers);
    const { ends, run } = controlled();
    const { runner } = runnerOf({ run }, lease);
    runner.start();
    await vi.advanceTimersByTimeAsync(after);
    expect(ends[0]?.signal.reason).toMatchObject({ message: reason });
    ends[0]?.resolve();
    await runner.stop();
  });

  test("a database that is down is a failure, and is asked again at the interval", async () => {
    const { lease, asked } = leaseOf({ take: [new Error("down")] });
    const { runner, outcomes, lines } = runnerOf({}, lease);
    runner.start();
    await vi.advanceTimersByTimeAsync(6000);
    expect(outcomes).toEqual(["failed"]);
    expect(lines).toEqual(["the lease of a job cannot be taken down"]);
    await vi.advanceTimersByTimeAsync(MINUTE);
    expect(asked).toEqual(["take", "take", ["giveBack", 60_000]]);
    await runner.stop();
  });
});
