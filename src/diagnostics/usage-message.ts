import type { Command, CommanderError } from "commander";
import { didYouMean, nearest } from "./nearest.ts";

/**
 * A wrong use of a command as one line: what is wrong, and the name that was probably meant, or the
 * command that helps.
 *
 * @param command the command that was used
 * @param otherCommands see `ProgramSettings`
 */
export function usageMessage(
  command: Command,
  { message }: CommanderError,
  otherCommands: readonly string[],
): string {
  const [, kind, word = ""] = /^error: unknown (command|option) '(.*)'$/s.exec(message) ?? [];
  switch (kind) {
    case "command":
      return unknownCommand(command, word, otherCommands);
    case "option":
      return unknownOption(command, word);
    default:
      return `${message.replace(/^error: /, "").replace(/\.$/, "")}; ${usageOf(command)}`;
  }
}

/** The same for a command that a group of commands does not have. */
export function unknownCommand(
  group: Command,
  name: string,
  otherCommands: readonly string[],
): string {
  const { commands } = group;
  const hint = didYouMean(name, [...commands.map((command) => command.name()), ...otherCommands]);
  return `unknown command "${name}"${hint || `; ${fullName(group)} --help lists the commands`}`;
}

function unknownOption(command: Command, argument: string): string {
  // Not its value, which may be a secret.
  const [flag = ""] = argument.split("=", 1);
  const names = flag.startsWith("--") ? longNames(command) : [];
  // Without the dashes, which each option has.
  const meant = nearest(flag.slice(2), names);
  const hint = meant === undefined ? usageOf(command) : `did you mean "--${meant}"?`;
  return `unknown option "${flag}"; ${hint}`;
}

/** The long options of a command and of those above it, without dashes. */
function longNames(command: Command): string[] {
  return lineOf(command)
    .flatMap((each) => each.createHelp().visibleOptions(each))
    .flatMap(({ long }) => long?.slice(2) ?? []);
}

function usageOf(command: Command): string {
  return `${fullName(command)} --help shows the usage`;
}

/** Such as `svc-access model merge`. */
function fullName(command: Command): string {
  return lineOf(command)
    .map((each) => each.name())
    .reverse()
    .join(" ");
}

/** A command and those above it. */
function lineOf(command: Command): Command[] {
  return command.parent === null ? [command] : [command, ...lineOf(command.parent)];
}
