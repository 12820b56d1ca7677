import { type Command, CommanderError } from "commander";
import { note } from "./note.ts";
import { printableLines } from "./printable.ts";

/** The exit codes: success, findings, and wrong usage or unreadable input. */
const EXIT = { clean: 0, findings: 1, usage: 2 } as const;

/**
 * Runs a program of commands. Errors go to standard error, as text that is safe for a terminal.
 *
 * @param messageOf - the message of an error that the user can fix; undefined for other errors
 */
export async function runCommands(
  program: Command,
  argv: readonly string[],
  messageOf: (error: unknown) => string | undefined,
): Promise<void> {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    // A reader such as head has closed the pipe.
    if (error.code === "EPIPE") process.exit();
    throw error;
  });
  settle(program);
  try {
    await program.parseAsync(argv);
  } catch (error) {
    process.exitCode = exitCodeOf(error, messageOf);
  }
}

/** Commander passes these settings on only to subcommands that it creates itself. */
function settle(command: Command): void {
  command
    .exitOverride()
    .showHelpAfterError("(--help shows the usage)")
    // Commander's messages contain the arguments.
    .configureOutput({ outputError: (text, write) => write(printableLines(text)) });
  for (const child of command.commands) settle(child);
}

function exitCodeOf(error: unknown, messageOf: (error: unknown) => string | undefined): number {
  if (error instanceof CommanderError) {
    // Help and version throw an error with code 0; other errors are already printed.
    return error.exitCode === 0 ? EXIT.clean : EXIT.usage;
  }
  const { message, stack } = error as Error;
  const said =
    messageOf(error) ??
    `internal error: ${`${message}`.split("\n", 1)[0]}; SVC_ACCESS_DEBUG=1 shows where`;
  for (const line of said.split(/\r?\n/)) note(line);
  if (process.env["SVC_ACCESS_DEBUG"] === "1") {
    process.stderr.write(`${printableLines(stack ?? "")}\n`);
  }
  return EXIT.usage;
}
