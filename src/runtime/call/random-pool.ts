import { randomFillSync } from "node:crypto";

/** One draw serves many calls: asking the system for each id costs more than all else of it. */
export const randomPool = Buffer.allocUnsafe(4096);
let used = randomPool.length;

/**
 * Draws random bytes that nobody else is given; few at once.
 *
 * @returns where in `randomPool` they stand, until the next draw
 */
export function drawRandom(bytes: number): number {
  if (used + bytes > randomPool.length) {
    randomFillSync(randomPool);
    used = 0;
  }
  const start = used;
  used += bytes;
  return start;
}
