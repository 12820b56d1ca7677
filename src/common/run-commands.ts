import { type Command, CommanderError } from "commander";
import { note } from "./note.ts";
import { printableLines } from "./printable.ts";

/** The exit codes: clean or done, findings, and usage or what cannot be read or opened. */
export const EXIT = { clean: 0, findings: 1, usage: 2 } as const;

/**
 * Runs a program of commands. What goes wrong is said on standard error, in text that a terminal can
 * show, whatever the arguments and files hold.
 *
 * @param messageOf what an error says that a person can do something about; undefined for all others
 */
export async function runCommands(
  program: Command,
  argv: readonly string[],
  messageOf: (error: unknown) => string | undefined,
): Promise<void> {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    // A reader such as head has read enough.
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

/** Commander hands these settings down to commands that it makes itself only. */
function settle(command: Command): void {
  command
    .exitOverride()
    .showHelpAfterError("(--help shows the usage)")
    // What commander says of an argument holds the argument.
    .configureOutput({ outputError: (text, write) => write(printableLines(text)) });
  for (const child of command.commands) settle(child);
}

function exitCodeOf(error: unknown, messageOf: (error: unknown) => string | undefined): number {
  if (error instanceof CommanderError) {
    // Help and version end in an error of code 0; all others were printed.
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
