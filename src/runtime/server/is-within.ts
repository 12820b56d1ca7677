import { setTimeout as sleep } from "node:timers/promises";

/** Whether something is done in time, in milliseconds; rejects with it. */
export async function isWithin(limitMs: number, done: Promise<unknown>): Promise<boolean> {
  const late = new AbortController();
  try {
    return await Promise.race([
      done.then(() => true),
      sleep(limitMs, false, { signal: late.signal }).catch(() => false),
    ]);
  } finally {
    late.abort();
  }
}
