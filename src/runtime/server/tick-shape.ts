import { executionAsyncResource } from "node:async_hooks";

/** The object of one task of `process.nextTick`. */
let kept: object | undefined;

/**
 * Keeps `process.nextTick` fast, which Node calls several times for each request. Each task is an
 * object with computed names, whose shape V8 forgets if a garbage collection finds no such object;
 * from then on each task takes about twice as long, until the process ends. So one is kept.
 */
export function keepTickShape(): void {
  if (kept !== undefined) return;
  process.nextTick(() => {
    kept = executionAsyncResource();
  });
}
