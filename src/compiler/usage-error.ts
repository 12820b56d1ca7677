/**
 * The input cannot be used: a missing file, a wrong option, bytes that are no
 * image. The message is for the user: what is wrong and how to mend it.
 */
export class UsageError extends Error {
  override readonly name: string = "UsageError";
}

/** The platform configuration or the model is malformed; the message lists all that is wrong, one a line. */
export class MalformedFileError extends UsageError {
  override readonly name = "MalformedFileError";
}
