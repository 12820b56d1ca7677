import { printable } from "../common/printable.ts";

/**
 * The input cannot be used: a missing file, a wrong option, bytes that are not
 * an image. The message says what is wrong and how to fix it.
 *
 * Only the caller breaks lines: a value from the input cannot start a new line.
 */
export class UsageError extends Error {
  override readonly name: string = "UsageError";

  /** @param lines - the message: one line, or several in a list */
  constructor(lines: string | readonly string[]) {
    super(typeof lines === "string" ? printable(lines) : lines.map(printable).join("\n"));
  }
}

/** The platform configuration or the model is malformed; the message lists all errors, one per line. */
export class MalformedFileError extends UsageError {
  override readonly name = "MalformedFileError";
}
