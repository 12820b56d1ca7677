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
    throw unreadable(`${flag} ${file}`, error);
  }
  if (data.length > 0 && data.length <= MAX_BYTES) return data.toString("utf8");
  throw new CommandError(
    `${flag} ${file} is ${data.length === 0 ? "empty" : "too large"}: name another file`,
  );
}

const NOT_ALLOWED = "this user may not; change its mode, or name another file";
const WHY: Readonly<Record<string, string>> = {
  ENOENT: "it does not exist; name another file",
  EISDIR: "it is a folder; name a file",
  ENOTDIR: "a part of its path is a file; name another file",
  EACCES: NOT_ALLOWED,
  EPERM: NOT_ALLOWED,
};

/** Why a file cannot be read. @param what names it */
export function unreadable(what: string, error: unknown): CommandError {
  const { code = "", message } = error as NodeJS.ErrnoException;
  return new CommandError(
    `${what} cannot be read: ${WHY[code] ?? `${message}; name another file`}`,
  );
}
