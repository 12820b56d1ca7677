/**
 * Runs the measured process on its own processor, and the load generators on the others: a server and
 * its peer then have the same machine, helper threads of V8 included.
 */
import { execFileSync } from "node:child_process";
import { availableParallelism } from "node:os";

const processors = availableParallelism();
/** The processor of the measured process; undefined if there is only one, or no `taskset`. */
const OWN = processors > 1 && hasTaskset() ? processors - 1 : undefined;

/** A program and its arguments, to run on the processor of the measured process. */
export function pinned(program: string, args: readonly string[]): readonly [string, string[]] {
  if (OWN === undefined) return [program, [...args]];
  return ["taskset", ["-c", String(OWN), program, ...args]];
}

/** Keeps this process off the processor of the measured process, until the end of the function. */
export async function besidePinned<Result>(run: () => Promise<Result>): Promise<Result> {
  if (OWN === undefined) {
    process.stdout.write("  not pinned: it takes two processors and taskset\n");
    return run();
  }
  moveTo(`0-${OWN - 1}`);
  try {
    return await run();
  } finally {
    moveTo(`0-${OWN}`);
  }
}

function moveTo(list: string): void {
  execFileSync("taskset", ["-a", "-c", "-p", list, String(process.pid)], { stdio: "ignore" });
}

function hasTaskset(): boolean {
  try {
    execFileSync("taskset", ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
