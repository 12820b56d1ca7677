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

/**
 * Waits until a value stays the same for a while, for what must not go on: that nothing happens is
 * no event. A slow machine only waits longer.
 */
export async function untilStill(what: string, read: () => number, forMs = 200): Promise<void> {
  await until(`${what} stays the same`, async () => {
    const before = read();
    await sleep(forMs);
    return read() === before;
  });
}
