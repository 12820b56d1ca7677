/** Rounds in which svc-iam and its peer take turns, and how they compare. */
import { processorSeconds } from "../service-start.ts";
import { atLeast, median, note } from "../verdict.ts";

/** A process that is measured, and its work. */
export interface Side {
  readonly pid: number | undefined;
  /** Does the work of a round. @returns how often */
  work(): Promise<number>;
  /** What is not measured, before each round. */
  prepare?(): Promise<void>;
}

/** How often a second: of wall time, and of the process's processor time. */
interface Rates {
  readonly wall: number;
  readonly cpu: number;
  readonly share: number;
}

/** Who takes turns, and what is expected. */
export interface Comparison {
  readonly own: Side;
  readonly peer: Side;
  readonly rounds: number;
  /** Of the ratio; absent, it is printed only. */
  readonly limit?: number | undefined;
  /** Which of the rates must keep the limit; that of wall time if absent. */
  readonly by?: "wall" | "cpu";
}

/** Lets the two take turns, and prints the ratio of their rates, with its limit if there is one. */
export async function compareRates(
  what: string,
  { own, peer, rounds, limit, by = "wall" }: Comparison,
): Promise<void> {
  const pairs: { readonly own: Rates; readonly peer: Rates }[] = [];
  for (let round = 0; round < rounds; round++) {
    // Who comes first changes, so that a load from elsewhere falls on both.
    const first = round % 2 === 0 ? await measure(peer) : undefined;
    const ours = await measure(own);
    pairs.push({ own: ours, peer: first ?? (await measure(peer)) });
  }
  const of = (pick: (pair: (typeof pairs)[number]) => number) => median(pairs.map(pick));
  const ratio = of((pair) => pair.own[by] / pair.peer[by]);
  if (limit === undefined) note(`${what} ${ratio.toFixed(3)}, without a limit`);
  else atLeast(what, ratio, limit);
  for (const [name, side] of [
    ["our own", "own"],
    ["the peer", "peer"],
  ] as const) {
    const rate = of((pair) => pair[side].wall).toFixed(0);
    const share = (100 * of((pair) => pair[side].share)).toFixed(0);
    const cost = (1e6 / of((pair) => pair[side].cpu)).toFixed(0);
    note(`  ${name}: ${rate} a second at ${share} % of a processor, ${cost} us each`);
  }
  note(`  of processor time ${of((pair) => pair.own.cpu / pair.peer.cpu).toFixed(3)}`);
}

async function measure(side: Side): Promise<Rates> {
  await side.prepare?.();
  const before = processorSeconds(side.pid);
  const start = performance.now();
  const count = await side.work();
  const seconds = (performance.now() - start) / 1000;
  const busy = processorSeconds(side.pid) - before;
  return { wall: count / seconds, cpu: count / busy, share: busy / seconds };
}
