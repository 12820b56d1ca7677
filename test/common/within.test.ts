import { expect, test } from "vitest";
import { within } from "../../src/common/within.ts";

const never = new Promise<never>(() => undefined);
const LONG = 600_000;

test("work that is not done in time is abandoned, and its late result is ignored", async () => {
  const unhandled: unknown[] = [];
  const listener = (reason: unknown) => void unhandled.push(reason);
  process.on("unhandledRejection", listener);
  try {
    let fail: (error: Error) => void = () => undefined;
    const work = new Promise<string>((_, reject) => {
      fail = reject;
    });
    expect(await within(work, 1, () => "late")).toBe("late");
    fail(new Error("too late"));
    await new Promise(setImmediate);
    expect(unhandled).toEqual([]);
  } finally {
    process.off("unhandledRejection", listener);
  }
});

test("the timeout may throw", async () => {
  const late = () => {
    throw new Error("no answer");
  };
  await expect(within(never, 1, late)).rejects.toThrow("no answer");
});

test("work that is done or fails in time leaves no timer", async () => {
  const late = () => "late";
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
  const before = timers();
  for (let count = 0; count < 100; count++) {
    await expect(within(Promise.reject(new Error("broken")), LONG, late)).rejects.toThrow("broken");
    const soon = new Promise((resolve) => setImmediate(resolve, "soon"));
    expect(await within(soon, LONG, late)).toBe("soon");
  }
  // Other code may have timers, but not as many.
  expect(timers() - before).toBeLessThan(50);
});
