import type { Probe, ProbeAnswer } from "../operation/probe.ts";
import type { Exchange } from "./exchange.ts";

export type { Probe, ProbeAnswer };

/** Answers a probe; rejects with what it threw. */
export async function answerProbe(exchange: Exchange, probe: Probe): Promise<void> {
  const { status, body } = await probe.handle();
  if (exchange.isLost) return exchange.leave();
  const headers = ["Content-Type", "application/json", "Cache-Control", "no-store"];
  exchange.send(status, JSON.stringify(body), headers);
}
