import type { Command } from "commander";

/** Adds commands to a group. Commander hands these settings down to commands that it makes itself only. */
export function withCommands(group: Command, commands: readonly Command[]): Command {
  for (const command of commands) group.addCommand(settled(command));
  return settled(group);
}

function settled(command: Command): Command {
  return command.exitOverride().showHelpAfterError("(--help shows the usage)");
}
