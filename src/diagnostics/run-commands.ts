import { Command, CommanderError } from "commander";
import { note } from "../common/note.ts";
import { printableLines } from "../common/printable.ts";
import { UsageError } from "./usage-error.ts";
import { unknownCommand, usageMessage } from "./usage-message.ts";

/** The exit codes: success, findings, and wrong usage or unreadable input. */
const EXIT = { clean: 0, findings: 1, usage: 2 } as const;

/** What a program of commands differs in. */
export interface ProgramSettings {
  /** The message of an error that the user can fix; undefined for other errors. */
  readonly messageOf?: (error: unknown) => string | undefined;
  /** Commands of the same program that are loaded separately: a misspelt command may mean them. */
  readonly otherCommands?: readonly string[];
}

/**
 * Runs a program of commands. Errors go to standard error, as text that is safe for a terminal; those of
 * a wrong use are one line.
 */
export async function runCommands(
  program: Command,
  argv: readonly string[],
  { messageOf = () => undefined, otherCommands = [] }: ProgramSettings = {},
): Promise<void> {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    // A reader such as head has closed the pipe.
    if (error.code === "EPIPE") process.exit();
    throw error;
  });
  settle(program, otherCommands);
  try {
    await program.parseAsync(argv);
  } catch (error) {
    process.exitCode = exitCodeOf(error, messageOf);
  }
}

/** Commander passes these settings on only to subcommands that it creates itself. */
function settle(command: Command, otherCommands: readonly string[]): void {
  command
    .showSuggestionAfterError(false)
    .configureOutput({ outputError: () => undefined })
    .exitOverride((error) => {
      // Help and version, or the help of a group without its command, which is printed.
      if (error.exitCode === 0 || error.code === "commander.help") throw error;
      throw new UsageError(usageMessage(command, error, otherCommands));
    });
  if (command.commands.length === 0) return;
  // Commander's own would print all the help for a misspelt command.
  command.helpCommand(false).addCommand(helpOf(command, otherCommands));
  for (const child of command.commands) settle(child, []);
}

/** The command `help` of a group. */
function helpOf(group: Command, otherCommands: readonly string[]): Command {
  return new Command("help")
    .description("display help for command")
    .argument("[command]")
    .action((name: string | undefined) => {
      if (name === undefined) group.help();
      const child = group.commands.find((command) => command.name() === name);
      if (child === undefined) throw new UsageError(unknownCommand(group, name, otherCommands));
      child.help();
    });
}

function exitCodeOf(error: unknown, messageOf: (error: unknown) => string | undefined): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.clean : EXIT.usage;
  const { message, stack } = error as Error;
  const said =
    (error instanceof UsageError ? message : messageOf(error)) ??
    `internal error: ${`${message}`.split("\n", 1)[0]}; SVC_ACCESS_DEBUG=1 shows where`;
  for (const line of said.split(/\r?\n/)) note(line);
  if (process.env["SVC_ACCESS_DEBUG"] === "1") {
    process.stderr.write(`${printableLines(stack ?? "")}\n`);
  }
  return EXIT.usage;
}
