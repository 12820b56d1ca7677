import { execFile, spawnSync } from "node:child_process";

/** The output and the exit code of a program. */
export interface Ended {
  readonly exitCode: number;
  readonly output: string;
  readonly errors: string;
}

/** Runs a program to its end. */
export function runProgram(program: string, args: readonly string[], input = ""): Promise<Ended> {
  return new Promise((resolve) => {
    const child = execFile(program, args, { maxBuffer: 64 << 20 }, (error, output, errors) => {
      resolve({ exitCode: error === null ? 0 : Number(error.code ?? 1), output, errors });
    });
    // A program that does not read its input may have ended already.
    child.stdin?.on("error", () => undefined).end(input);
  });
}

/** Whether the tests that need a program are skipped, with a warning; never in CI. */
export function isAbsent(program: string): boolean {
  if (spawnSync(program, ["--version"], { stdio: "ignore" }).error === undefined) return false;
  const message = `there is no ${program}: install it`;
  if (process.env["CI"] === "true") throw new Error(message);
  console.warn(`SKIPPED, the tests that need ${program}: ${message}`);
  return true;
}
