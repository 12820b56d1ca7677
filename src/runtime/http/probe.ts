import type { Exchange } from "./exchange.ts";

/** A path beside the chain: who asks whether the process lives is never refused. It must tell nothing else. */
export interface Probe {
  /** The path, to the letter, such as `/healthz`. */
  readonly path: string;
  handle(): ProbeAnswer | Promise<ProbeAnswer>;
}

/** What a probe answers; `body` as JSON. */
export interface ProbeAnswer {
  readonly status: number;
  readonly body: object;
}

/** Answers a probe; rejects with what it threw. */
export async function answerProbe(exchange: Exchange, probe: Probe): Promise<void> {
  const { status, body } = await probe.handle();
  if (exchange.isLost) return exchange.leave();
  const headers = ["Content-Type", "application/json", "Cache-Control", "no-store"];
  exchange.send(status, JSON.stringify(body), headers);
}
