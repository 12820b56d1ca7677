import { spawnSync } from "node:child_process";
import { delimiter, join } from "node:path";
import { BUF_FOLDER, ROOT } from "./workspace.ts";

/** The result and the output of a program. */
export interface Outcome {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The folder of the programs that this repository's lock file pins. */
export const BIN = join(ROOT, "node_modules/.bin");

/** How a program is run. */
export interface ProgramOptions {
  readonly cwd?: string;
  readonly input?: Uint8Array | string;
  readonly env?: NodeJS.ProcessEnv;
}

/** Runs a program with this package's and its dependencies' programs on PATH. */
export function runProgram(
  command: string,
  args: readonly string[],
  options: ProgramOptions = {},
): Outcome {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd: options.cwd,
    input: options.input,
    env: environmentOf(options),
    maxBuffer: 1 << 30,
  });
  if (error !== undefined) throw error;
  return { status, stdout: stdout.toString("utf8"), stderr: stderr.toString("utf8") };
}

/** The environment of a program. */
export function environmentOf({ env }: ProgramOptions): NodeJS.ProcessEnv {
  const path = [join(ROOT, "bin"), BUF_FOLDER, BIN, process.env["PATH"]].join(delimiter);
  return { ...process.env, PATH: path, NO_COLOR: "1", ...env };
}
