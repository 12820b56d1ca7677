import { join } from "node:path";
import {
  MessageChannel,
  type MessagePort,
  receiveMessageOnPort,
  Worker,
} from "node:worker_threads";
import { IS_THOROUGH } from "./effort.ts";
import { environmentOf, type Outcome, type ProgramOptions, runProgram } from "./programs.ts";
import { ROOT } from "./workspace.ts";

/** A run, for the message to the thread. */
export interface Run {
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

/** The initial data of the thread. */
export interface CommandThreadData {
  readonly program: string;
  readonly port: MessagePort;
  /** 1 if the run has ended. */
  readonly isDone: Int32Array;
}

/** The time limit of a command, in milliseconds, which only limits waiting. */
const PATIENCE = 150_000;

let thread: Omit<CommandThreadData, "program"> | undefined;

/**
 * Runs `svc-access` for a test of its output, not of its process. In CI, it runs the program;
 * otherwise, `bin/svc-access` runs in a thread that has already loaded the bundles, which takes a tenth
 * of the time.
 */
export function runSvcAccess(
  args: readonly string[],
  options: Omit<ProgramOptions, "input"> = {},
): Outcome {
  if (IS_THOROUGH) return runProgram("svc-access", args, options);
  thread ??= startThread();
  const { port, isDone } = thread;
  const folder = process.cwd();
  // The folder is that of the whole process, which waits here.
  process.chdir(options.cwd ?? folder);
  try {
    Atomics.store(isDone, 0, 0);
    port.postMessage({ args, env: environmentOf(options) } satisfies Run);
    Atomics.wait(isDone, 0, 0, PATIENCE);
    const answer = receiveMessageOnPort(port) as { message: Outcome } | undefined;
    if (answer === undefined) throw new Error(`svc-access ${args.join(" ")} has not ended`);
    return answer.message;
  } finally {
    process.chdir(folder);
  }
}

function startThread(): Omit<CommandThreadData, "program"> {
  const { port1, port2 } = new MessageChannel();
  const isDone = new Int32Array(new SharedArrayBuffer(4));
  const data: CommandThreadData = { program: join(ROOT, "bin/svc-access"), port: port2, isDone };
  new Worker(new URL("./command-thread.ts", import.meta.url), {
    workerData: data,
    transferList: [port2],
  }).unref();
  port1.unref();
  return { port: port1, isDone };
}
