/** The thread in which `svc-iam` runs commands of tests: see `run-program.ts`. */
import { Writable } from "node:stream";
import { parentPort } from "node:worker_threads";
import type { Ran, Run } from "./run-program.ts";

/** Thrown where the program would end the process. */
const END = Symbol("end");
process.exit = (code) => {
  process.exitCode = code ?? process.exitCode;
  throw END;
};

parentPort?.on("message", async (run: Run) => parentPort?.postMessage(await ran(run)));

async function ran({ args, env }: Run): Promise<Ran> {
  const output = { stdout: replaced("stdout"), stderr: replaced("stderr") };
  process.env = { ...env };
  process.exitCode = undefined;
  try {
    const { createProgram } = await import("../../src/program.ts");
    await createProgram().parseAsync(["node", "svc-iam", ...args]);
  } catch (error) {
    if (error !== END) {
      process.stderr.write(`${(error as Error).stack}\n`);
      process.exitCode = 1;
    }
  }
  // A write may wait for the one before it.
  await new Promise(setImmediate);
  return {
    status: Number(process.exitCode ?? 0),
    stdout: output.stdout.join(""),
    stderr: output.stderr.join(""),
  };
}

/** Replaces a stream of the process by one that collects what is written. */
function replaced(name: "stdout" | "stderr"): string[] {
  const texts: string[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      texts.push(chunk.toString("utf8"));
      done();
    },
  });
  Object.defineProperty(process, name, { value: stream, configurable: true });
  return texts;
}
