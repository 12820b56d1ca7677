import { until } from "../../../support/until.ts";

export { until };

/** The response of `/readyz`. */
export interface ReadyAnswer {
  readonly status: number;
  readonly reasons: string;
}

export async function readyz(port: number): Promise<ReadyAnswer> {
  const response = await fetch(`http://127.0.0.1:${port}/readyz`);
  const { reasons = [] } = (await response.json()) as { reasons?: string[] };
  return { status: response.status, reasons: reasons.join("; ") };
}

/** Waits until the server is ready, or not ready. */
export function untilReady(port: number, ready = true): Promise<void> {
  const wanted = ready ? 200 : 503;
  return until(`/readyz is ${wanted}`, async () => (await readyz(port)).status === wanted);
}
