import { setImmediate } from "node:timers/promises";
import { abortError } from "../../engine/abort-error.ts";

/** Work in steps: it may pause at each `yield`. */
export type Steps<Result> = Generator<void, Result>;

/** How many milliseconds a turn lasts. */
const TURN = 10;
/** How often work starts again because of writes, before it runs without a pause. */
const MOST_RESTARTS = 3;

/**
 * Runs long work in turns, so that timers fire, other calls are answered and the signal is checked.
 * The result reflects one state: after a write during a pause, the work starts again; after
 * several, it runs without a pause.
 *
 * @param version a value that differs after every write
 * @throws AuthzError CANCELLED or DEADLINE_EXCEEDED if the signal is aborted
 */
export async function inTurns<Result>(
  version: () => number,
  work: () => Steps<Result>,
  signal?: AbortSignal,
): Promise<Result> {
  for (let restarts = 0; ; restarts++) {
    const begun = version();
    const steps = work();
    let end = performance.now() + TURN;
    while (version() === begun) {
      const { done, value } = steps.next();
      if (done === true) return value;
      if (restarts === MOST_RESTARTS || performance.now() < end) continue;
      await setImmediate();
      if (signal?.aborted === true) {
        steps.return(undefined as Result);
        throw abortError(signal);
      }
      end = performance.now() + TURN;
    }
    steps.return(undefined as Result);
  }
}

/** The result of work that does not pause; undefined if it does. */
export function atOnce<Result>(work: () => Steps<Result>): Result | undefined {
  const steps = work();
  const { done, value } = steps.next();
  if (done === true) return value;
  steps.return(undefined as Result);
  return undefined;
}
