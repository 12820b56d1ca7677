/** The thread in which `svc-iam` runs commands of tests: see `run-program.ts`. */
import { PassThrough, Writable } from "node:stream";
import { parentPort } from "node:worker_threads";
import type { Ran, Run } from "./run-program.ts";

/** Thrown where the program would end the process. */
const END = Symbol("end");
process.exit = (code) => {
  process.exitCode = code ?? process.exitCode;
  throw END;
};

parentPort?.on("message", async (run: Run) => parentPort?.postMessage(await ran(run)));

async function ran({ args, env, answer }: Run): Promise<Ran> {
  Object.defineProperty(process, "stdin", { value: stdin, configurable: true });
  const output = { stdout: replaced("stdout"), stderr: replaced("stderr") };
  if (answer !== undefined) beTerminal(answer);
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

const { stdin } = process;

/** Lets the input and the messages be those of a terminal, until the next run. */
function beTerminal(answer: string): void {
  const input = new PassThrough();
  input.end(answer);
  Object.defineProperty(process, "stdin", {
    value: Object.assign(input, { isTTY: true }),
    configurable: true,
  });
  Object.assign(process.stderr, { isTTY: true });
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
