/** A problem that the person who runs a command must fix. The message says how, on one line. */
export class CommandError extends Error {
  override readonly name = "CommandError";
}
