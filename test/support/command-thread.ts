/** The thread in which `svc-access` runs: see `svc-access.ts`. */
import { pathToFileURL } from "node:url";
import { workerData } from "node:worker_threads";
import type { Outcome } from "./programs.ts";
import type { CommandThreadData, Run } from "./svc-access.ts";

const { program, port, isDone } = workerData as CommandThreadData;
let runs = 0;

port.on("message", async ({ args, env }: Run) => {
  const outcome = await run(args, env);
  port.postMessage(outcome);
  Atomics.store(isDone, 0, 1);
  Atomics.notify(isDone, 0);
});

/** Thrown where the program would end the process. */
const EXIT = Symbol("exit");
process.exit = () => {
  throw EXIT;
};

/** Runs the program in `bin` again; its imports are already loaded. */
async function run(args: readonly string[], env: NodeJS.ProcessEnv): Promise<Outcome> {
  const stdout = collect(process.stdout);
  const stderr = collect(process.stderr);
  process.env = { ...env };
  process.argv = [process.execPath, program, ...args];
  process.exitCode = undefined;
  try {
    await import(`${pathToFileURL(program)}?${runs++}`);
  } catch (error) {
    if (error === EXIT) return ended(stdout, stderr);
    process.stderr.write(`${(error as Error).stack}\n`);
    process.exitCode = 1;
  }
  return ended(stdout, stderr);
}

function ended(stdout: readonly string[], stderr: readonly string[]): Outcome {
  process.stdout.removeAllListeners("error");
  const status = Number(process.exitCode ?? 0);
  process.exitCode = undefined;
  return { status, stdout: stdout.join(""), stderr: stderr.join("") };
}

/** Captures all output from now on. */
function collect(stream: NodeJS.WriteStream): string[] {
  const texts: string[] = [];
  stream.write = (chunk: string | Uint8Array, ...rest: unknown[]) => {
    texts.push(typeof chunk === "string" ? chunk : Buffer.from(chunk).toString("utf8"));
    const written = rest.at(-1);
    if (typeof written === "function") written();
    return true;
  };
  return texts;
}
