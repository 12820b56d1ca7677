import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect } from "vitest";
import { runs } from "../../support/effort.ts";
import { Random } from "./random.ts";
import type { Subject } from "./subject.ts";

/** How many inputs there are in all, unless it is said. */
export const RUNS = Number(process.env["SVC_ACCESS_FUZZ_RUNS"] ?? runs(100_000, 3_000));
/** One seed, one run: the inputs of a failure come again. */
export const SEED = Number(process.env["SVC_ACCESS_FUZZ_SEED"] ?? Date.now() % 2 ** 31);

/** Heap that a run may leave behind: caches of bounded size, no list that grows with each input. */
const MAX_GROWTH = 48 * 1024 * 1024;

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

/** Serves one input, and throws what is wrong with the answer. */
export type Lane = { next(): Promise<void>; close(): void };

/**
 * Runs inputs in several lanes, each with numbers of its own, so that a lane has the same inputs
 * however fast the others are. Looks at violations and memory in the end.
 */
export async function runLanes(
  subject: Subject,
  count: number,
  lanes: number,
  open: (random: Random, lane: number) => Lane,
): Promise<void> {
  const opened = new Array(lanes).fill(0).map((_, lane) => {
    return open(new Random(Math.imul(SEED, 31) + lane * 7_919), lane);
  });
  const half = async () => {
    const each = Math.ceil(count / lanes / 2);
    await Promise.all(
      opened.map(async (lane, index) => {
        for (let turn = 0; turn < each && subject.violations.length === 0; turn++) {
          await lane.next().catch((error: unknown) => {
            subject.violations.push(`lane ${index}, input ${turn}: ${String(error)}`);
          });
        }
      }),
    );
    collectGarbage();
    return process.memoryUsage().heapUsed;
  };
  const first = await half();
  const second = await half();
  for (const lane of opened) lane.close();
  const hint = `SVC_ACCESS_FUZZ_SEED=${SEED} SVC_ACCESS_FUZZ_RUNS=${RUNS}`;
  expect(subject.violations.slice(0, 3), hint).toEqual([]);
  expect(second - first, hint).toBeLessThan(MAX_GROWTH);
}
