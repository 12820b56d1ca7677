/** How much sooner or later than its age a connection ends, of it: not all that began together end together. */
const SPREAD = 0.1;

/** When a connection that begins now becomes too old, by `performance.now()`. */
export function tooOldAt(maxAgeMs: number | undefined): number {
  if (maxAgeMs === undefined) return Number.POSITIVE_INFINITY;
  return performance.now() + maxAgeMs * (1 + SPREAD * (2 * Math.random() - 1));
}
