import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { IS_THOROUGH } from "../../../../test/support/effort.ts";

/** The program `svc-iam`. */
export const MAIN = join(import.meta.dirname, "../../src/main.ts");

/** What a run of the program has written. */
export interface Ran {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A run, for the message to the thread. */
export interface Run {
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** What a person answers at a terminal; no terminal if absent. */
  readonly answer?: string;
}

/** How the program runs. */
export interface RunOptions {
  /** The working folder; that of this process if absent. */
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly input?: string;
  /** What a person answers at a terminal, which only the thread has; no terminal if absent. */
  readonly answer?: string;
  /** Whether it is a process; if absent, it is one in CI. */
  readonly isProcess?: boolean;
}

let thread: Worker | undefined;
/** Ends when all earlier runs in the thread have: they share its environment and output. */
let last: Promise<unknown> = Promise.resolve();

/**
 * Runs a command of `svc-iam` to its end, for a test of its output and not of its process. In CI unless the test says
 * otherwise, and with standard input, it is a process; else a thread that has already loaded the program, which takes
 * a tenth of the time.
 * A thread has no folder of its own: this process is in that of the command meanwhile.
 */
export function runIam(
  args: readonly string[],
  { cwd = process.cwd(), env = {}, input, answer, isProcess = IS_THOROUGH }: RunOptions = {},
): Promise<Ran> {
  const all = { ...process.env, NO_COLOR: "1", ...env };
  const atTerminal = answer !== undefined;
  if ((isProcess && !atTerminal) || input !== undefined)
    return asProcess(args, { cwd, env: all }, input ?? "");
  const ran = last.then(() => inThread({ args, env: all, ...(atTerminal ? { answer } : {}) }, cwd));
  last = ran.catch(() => undefined);
  return ran;
}

async function asProcess(
  args: readonly string[],
  options: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
  input: string,
): Promise<Ran> {
  const child = spawn(process.execPath, [MAIN, ...args], options);
  const output = { stdout: "", stderr: "" };
  child.stdout.on("data", (chunk: Buffer) => void (output.stdout += chunk));
  child.stderr.on("data", (chunk: Buffer) => void (output.stderr += chunk));
  // One that ends before it reads has closed its input.
  child.stdin.on("error", () => {});
  child.stdin.end(input);
  const [status] = await once(child, "close");
  return { status, ...output };
}

async function inThread(run: Run, cwd: string): Promise<Ran> {
  thread ??= new Worker(new URL("./program-thread.ts", import.meta.url));
  thread.unref();
  const folder = process.cwd();
  process.chdir(cwd);
  try {
    thread.postMessage(run);
    const [ran] = await once(thread, "message");
    return ran;
  } finally {
    process.chdir(folder);
  }
}
