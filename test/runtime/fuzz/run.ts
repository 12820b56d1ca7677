import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect } from "vitest";
import { runs } from "../../support/effort.ts";
import { Random } from "./random.ts";
import type { Subject } from "./subject.ts";

/** The default number of inputs in total. */
export const RUNS = Number(process.env["SVC_ACCESS_FUZZ_RUNS"] ?? runs(100_000, 1_500));
/** A seed determines a run, so that a failure can be repeated. */
export const SEED = Number(process.env["SVC_ACCESS_FUZZ_SEED"] ?? Date.now() % 2 ** 31);

/** The heap that a run may leave: bounded caches, but no list that grows with each input. */
const MAX_GROWTH = 48 * 1024 * 1024;

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

/** Sends one input, and throws an error if the response is wrong. */
export type Lane = { next(): Promise<void>; close(): void };

/**
 * Runs inputs in several lanes, each with its own random numbers, so that a lane has the same
 * inputs however fast the others are. Checks violations and memory at the end.
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
