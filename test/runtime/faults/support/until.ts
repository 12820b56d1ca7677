import { setTimeout as sleep } from "node:timers/promises";

/** How long anything may take to come true, in milliseconds: a bound on waiting, no measure. */
const PATIENCE = 40_000;
const PAUSE = 20;

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

/** What `/readyz` says. */
export interface ReadyAnswer {
  readonly status: number;
  readonly reasons: string;
}

export async function readyz(port: number): Promise<ReadyAnswer> {
  const response = await fetch(`http://127.0.0.1:${port}/readyz`);
  const { reasons = [] } = (await response.json()) as { reasons?: string[] };
  return { status: response.status, reasons: reasons.join("; ") };
}

/** Waits for the server to be ready, or not. */
export function untilReady(port: number, ready = true): Promise<void> {
  const wanted = ready ? 200 : 503;
  return until(`/readyz is ${wanted}`, async () => (await readyz(port)).status === wanted);
}
