/** A problem that the person who runs a command must fix. The message says how, on one line. */
export class CommandError extends Error {
  override readonly name = "CommandError";
}

/** Nothing is changed. @param flags what the command can change */
export function nothingToChange(flags: string): CommandError {
  return new CommandError(`there is nothing to change: name ${flags}`);
}
