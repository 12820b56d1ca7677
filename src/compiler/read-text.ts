import { readFileSync } from "node:fs";
import { UsageError } from "../diagnostics/usage-error.ts";

/**
 * Reads a text that a user names.
 *
 * @param what what it is, for the message: `the model model/iam.zed`
 * @throws UsageError if it cannot be read
 */
export function readText(path: string, what = path): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(path));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") {
      throw new UsageError(`${what} does not exist; create it, or name another file`);
    }
    if (code === "EISDIR") throw new UsageError(`${what} is a folder; name a file`);
    if (code === "ERR_ENCODING_INVALID_ENCODED_DATA") {
      throw new UsageError(`${what} is not UTF-8 text`);
    }
    throw new UsageError(`${what} cannot be read: ${message}`);
  }
}
