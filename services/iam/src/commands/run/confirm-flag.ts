import type { Command } from "commander";

/** The flags of a command that asks before it does what cannot be undone. */
export interface ConfirmFlags {
  readonly yes?: boolean;
}

/** What the help of such a command says. */
export const ASKS = `It asks before, since it cannot be undone. Where there is no terminal, such as in a script,
it needs --yes.`;

/** What the help of a command says that scripts run without `--yes`. */
export const ASKS_ON_TERMINAL = "On a terminal it asks before, since it cannot be undone.";

/** Adds `--yes` to a command that goes on where there is no terminal. */
export function terminalConfirmedCommand(command: Command): Command {
  return command.option("--yes", "do not ask; without a terminal it never asks");
}

/** Adds `--yes`. */
export function confirmedCommand(command: Command): Command {
  return command.option("--yes", "do not ask; needed where there is no terminal");
}
