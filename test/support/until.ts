import { setTimeout as sleep } from "node:timers/promises";
import { PATIENCE } from "./patience.ts";

const PAUSE = 10;

/** Waits until a condition is true; fails with its name if it never is. */
export async function until(
  what: string | (() => string),
  isTrue: () => boolean | Promise<boolean>,
): Promise<void> {
  const end = performance.now() + PATIENCE;
  while (!(await isTrue())) {
    if (performance.now() > end) {
      const name = typeof what === "string" ? what : what();
      throw new Error(`still not so after ${PATIENCE} ms: ${name}`);
    }
    await sleep(PAUSE);
  }
}
