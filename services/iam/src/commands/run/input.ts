import { readFileSync } from "node:fs";
import { CommandError } from "./command-error.ts";

const MAX_BYTES = 1 << 16;

/**
 * The text of a small file that a flag names; `-` is standard input.
 *
 * @throws CommandError if it cannot be read, is empty or too large
 */
export function readSmallFile(flag: string, file: string): string {
  let data: Buffer;
  try {
    data = readFileSync(file === "-" ? process.stdin.fd : file);
  } catch (error) {
    throw new CommandError(`${flag} ${file} cannot be read: ${(error as Error).message}`);
  }
  if (data.length > 0 && data.length <= MAX_BYTES) return data.toString("utf8");
  throw new CommandError(
    `${flag} ${file} is ${data.length === 0 ? "empty" : "too large"}: name another file`,
  );
}
