import { setTimeout as sleep } from "node:timers/promises";

/** How long anything may take to come true, in milliseconds: a bound on waiting, no measure. */
const PATIENCE = 40_000;
const PAUSE = 10;

/** Waits until something is true; fails by name where it never is. */
export async function until(
  what: string,
  isTrue: () => boolean | Promise<boolean>,
  patience = PATIENCE,
): Promise<void> {
  const end = performance.now() + patience;
  while (!(await isTrue())) {
    if (performance.now() > end) throw new Error(`still not so: ${what}`);
    await sleep(PAUSE);
  }
}
