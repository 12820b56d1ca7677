import { spawn } from "node:child_process";

/** What a program has written when it had ended, or had written enough. */
export interface Written {
  /** Absent if it was ended after it had written enough. */
  readonly exitCode: number | undefined;
  readonly output: Buffer;
  readonly errors: string;
}

/** Runs a program until it ends, or has written enough: then it is ended. */
export function runUntil(
  program: string,
  args: readonly string[],
  input: string | Uint8Array,
  isEnough: (output: Buffer) => boolean,
): Promise<Written> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ["pipe", "pipe", "pipe"] });
    let output: Buffer = Buffer.alloc(0);
    let errors = "";
    let isEnded = false;
    child.stdout.on("data", (chunk: Buffer) => {
      output = Buffer.concat([output, chunk]);
      if (isEnded || !isEnough(output)) return;
      isEnded = true;
      child.kill();
    });
    child.stderr.on("data", (chunk: Buffer) => {
      errors += chunk.toString();
    });
    child.on("error", reject);
    child.on("close", (code) =>
      resolve({ exitCode: isEnded ? undefined : (code ?? 1), output, errors }),
    );
    // A program that does not read its input may have ended already.
    child.stdin.on("error", () => undefined).end(input);
  });
}
