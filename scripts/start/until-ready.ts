import { setTimeout as sleep } from "node:timers/promises";
import { callJson, type JsonResponse } from "./json-call.ts";
import { PlatformError } from "./platform-error.ts";

const PAUSE_MS = 100;
const MOST_MS = 100_000;
/** For one answer: a service that hangs is asked again. */
const ANSWER_MS = 5000;

/**
 * Waits until a service is ready.
 *
 * @param origin where it answers HTTP
 * @throws PlatformError with its reasons, if that takes too long
 */
export async function untilReady(name: string, origin: string, signal: AbortSignal): Promise<void> {
  let last = "it does not answer";
  const isReady = async (): Promise<boolean> => {
    const inTime = AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]);
    const response = await callJson(`${origin}/readyz`, { signal: inTime }).catch(() => undefined);
    signal.throwIfAborted();
    if (response?.status === 200) return true;
    if (response !== undefined) last = reasonsOf(response);
    return false;
  };
  await untilTrue(isReady, () => `${name} is not ready: ${last}`, signal);
}

/**
 * Waits until a condition is true.
 *
 * @throws PlatformError with the reason, if that takes too long
 */
export async function untilTrue(
  condition: () => Promise<boolean>,
  reason: () => string,
  signal: AbortSignal,
): Promise<void> {
  const end = performance.now() + MOST_MS;
  while (!(await condition())) {
    if (performance.now() > end) throw new PlatformError(`${reason()}; see the logs`);
    await sleep(PAUSE_MS, undefined, { signal });
  }
}

function reasonsOf({ status, body }: JsonResponse): string {
  const { reasons } = body ?? {};
  return Array.isArray(reasons) ? reasons.join("; ") : `${status}`;
}
