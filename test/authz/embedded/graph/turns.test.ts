import { expect, it } from "vitest";
import { inTurns, type Steps } from "../../../../src/authz/embedded/graph/turns.ts";

/** Work whose steps are each long enough for a pause. */
function* slowly<Result>(steps: number, result: () => Result): Steps<Result> {
  for (let step = 0; step < steps; step++) {
    for (const end = performance.now() + 11; performance.now() < end; );
    yield;
  }
  return result();
}

it("short work does not pause", async () => {
  let paused = false;
  setImmediate(() => {
    paused = true;
  });
  const result = await inTurns(
    () => 0,
    function* () {
      yield;
      return paused;
    },
  );
  expect(result).toBe(false);
});

it("an aborted signal ends work", async () => {
  const controller = new AbortController();
  setImmediate(() => controller.abort());
  const work = () => slowly(1000, () => "done");
  const cancelled = inTurns(() => 0, work, controller.signal);
  await expect(cancelled).rejects.toMatchObject({ code: "CANCELLED" });
  const late = inTurns(() => 0, work, AbortSignal.timeout(1));
  await expect(late).rejects.toMatchObject({ code: "DEADLINE_EXCEEDED" });
});

it("work restarts after a write in a pause, and still ends", async () => {
  let version = 0;
  let attempts = 0;
  const writing = setInterval(() => version++);
  const result = await inTurns(
    () => version,
    () => {
      attempts++;
      const begun = version;
      return slowly(5, () => version - begun);
    },
  );
  clearInterval(writing);
  expect(result).toBe(0);
  expect(attempts).toBeGreaterThan(1);
});

it("errors of the work are rethrown", async () => {
  const failing = inTurns(
    () => 0,
    () =>
      slowly(1, () => {
        throw new Error("no");
      }),
  );
  await expect(failing).rejects.toThrow("no");
});
