import { printable } from "../common/printable.ts";

/**
 * The input cannot be used: a missing file, a wrong option, bytes that are not
 * an image. The message is for the user: what is wrong and how to fix it.
 *
 * Only who makes it breaks its lines: a value of the input, in whatever line it stands, begins none.
 */
export class UsageError extends Error {
  override readonly name: string = "UsageError";

  /** @param lines - the message: one line, or several in a list */
  constructor(lines: string | readonly string[]) {
    super(typeof lines === "string" ? printable(lines) : lines.map(printable).join("\n"));
  }
}

/** The platform configuration or the model is malformed; the message lists all that is wrong, one a line. */
export class MalformedFileError extends UsageError {
  override readonly name = "MalformedFileError";
}
