import { oneLine, printable } from "./print.ts";
import { refusalText } from "./refusal.ts";

/**
 * The names of errors whose message says what to fix. Their classes are not imported: a command that fails at
 * its arguments loads none of the modules that throw them.
 */
const FORESEEN: ReadonlySet<string> = new Set([
  "AuthzError",
  "CommandError",
  "ConfigurationError",
  "DatabaseError",
  "EncryptionKeyError",
  "MissingDriverError",
  "StartUpError",
  "UnsealError",
  "UnusableSecretError",
]);

/** Of these, whose lines are made of printable texts, the message has a line for each problem. */
const OF_SEVERAL_LINES: ReadonlySet<string> = new Set(["ConfigurationError", "StartUpError"]);

/** What a person can do where the operating system refuses something. */
const OF_SYSTEM: Readonly<Record<string, string>> = {
  EACCES: "let this user use it",
  EDQUOT: "make room on the disk",
  EMFILE: "allow the process more open files",
  ENOSPC: "make room on the disk",
  EPERM: "let this user use it",
  EROFS: "name a folder that can be written to",
};

/** The exit codes of all commands: 1 is an answer, such as "not allowed", or one that a command lists. */
export const EXIT = { done: 0, no: 1, failed: 2 } as const;

/**
 * Runs a command, and sets the exit code of the process: what the command returns, or
 * 2 for a problem that a person must fix, whose message is printed. The code of other errors is 2
 * as well, since 1 is a result of commands.
 */
export async function runCommand(command: () => Promise<number>): Promise<void> {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    // A reader such as head has closed the pipe.
    if (error.code === "EPIPE") process.exit();
    say(`the result cannot be written: ${problemOf(error) ?? error.message}`);
    process.exit(EXIT.failed);
  });
  // The work is done even if nobody reads the message.
  process.stderr.on("error", () => {});
  try {
    process.exitCode = await command();
  } catch (error) {
    const { name, message, stack = message } = error as Error;
    const problem = problemOf(error as Error);
    if (problem === undefined || OF_SEVERAL_LINES.has(name)) sayLines(problem ?? stack);
    else say(problem);
    process.exitCode = EXIT.failed;
  }
}

/** Prints a message for the person who runs a command: one line, since a server may have written a part of it. */
export function say(text: string): void {
  process.stderr.write(`svc-iam: ${oneLine(text)}\n`);
}

/** Prints a message of the program itself that has a line for each of several problems. */
export function sayLines(text: string): void {
  process.stderr.write(`svc-iam: ${text.split("\n").map(printable).join("\n")}\n`);
}

/** What a person must fix, in one line for one problem; undefined for a defect of the program. */
export function problemOf(error: Error): string | undefined {
  const { name, message, cause } = error;
  if (name === "ServiceError") {
    // Of the own database, not of a server.
    if (cause instanceof Error && FORESEEN.has(cause.name)) return `${message}: ${cause.message}`;
    return refusalText(error as Error & { readonly code: string });
  }
  if (FORESEEN.has(name)) return message;
  const { code = "", syscall } = error as NodeJS.ErrnoException;
  if (syscall === undefined) return undefined;
  return `${message}: ${OF_SYSTEM[code] ?? "check what it names, and repeat the command"}`;
}
