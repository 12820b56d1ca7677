import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";

const root = new URL("..", import.meta.url).pathname;

/** What one run of a program took. */
export interface Measurement {
  /** Wall time in seconds. */
  readonly seconds: number;
  /** Peak resident memory in megabytes. */
  readonly megabytes: number;
  readonly status: number | null;
}

/** A program and what it is given. */
export interface Command {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd?: string;
  /** A file that becomes its standard input. */
  readonly input?: string;
  /** A file that takes its standard output; discarded if absent. */
  readonly output?: string;
}

/** Runs a program to its end and measures it from outside. */
export async function measure(command: Command): Promise<Measurement> {
  const stdin = command.input === undefined ? "ignore" : openSync(command.input, "r");
  const stdout = command.output === undefined ? "ignore" : openSync(command.output, "w");
  const path = [join(root, "bin"), join(root, "node_modules/.bin"), process.env["PATH"]];
  const start = performance.now();
  const child = spawn(command.program, command.args, {
    cwd: command.cwd,
    stdio: [stdin, stdout, "inherit"],
    env: { ...process.env, PATH: path.join(delimiter) },
  });
  const memory = watchMemory(child);
  const status = await new Promise<number | null>((resolve, reject) => {
    child.on("error", reject);
    child.on("exit", resolve);
  });
  const seconds = (performance.now() - start) / 1000;
  for (const file of [stdin, stdout]) if (typeof file === "number") closeSync(file);
  return { seconds, megabytes: memory(), status };
}

/** The median of several runs. */
export async function median(command: Command, runs: number): Promise<Measurement> {
  const measurements: Measurement[] = [];
  for (let run = 0; run < runs; run++) measurements.push(await measure(command));
  return middle(measurements);
}

/** Runs two programs in turn, so that both see the same machine. */
export async function inTurn(
  left: Command,
  right: Command,
  runs: number,
): Promise<[Measurement, Measurement]> {
  const both: [Measurement[], Measurement[]] = [[], []];
  for (let run = 0; run < runs; run++) {
    both[0].push(await measure(left));
    both[1].push(await measure(right));
  }
  return [middle(both[0]), middle(both[1])];
}

function middle(measurements: readonly Measurement[]): Measurement {
  const sorted = [...measurements].sort((left, right) => left.seconds - right.seconds);
  const measurement = sorted[Math.floor(sorted.length / 2)];
  if (measurement === undefined) throw new Error("nothing was measured");
  return { ...measurement, megabytes: Math.max(...measurements.map(({ megabytes }) => megabytes)) };
}

/** Linux keeps the peak of a process; it is read until the process ends. */
function watchMemory({ pid }: ChildProcess): () => number {
  let peak = 0;
  const read = () => {
    try {
      const status = readFileSync(`/proc/${pid}/status`, "utf8");
      peak = Math.max(peak, Number(/^VmHWM:\s+(\d+)/m.exec(status)?.[1] ?? 0));
    } catch {
      // Not Linux, or the process has ended.
    }
  };
  const timer = setInterval(read, 5);
  return () => {
    clearInterval(timer);
    return peak / 1024;
  };
}
