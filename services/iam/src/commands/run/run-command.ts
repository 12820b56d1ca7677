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
]);

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
    throw error;
  });
  try {
    process.exitCode = await command();
  } catch (error) {
    say(messageOf(error as Error));
    process.exitCode = EXIT.failed;
  }
}

/** Prints a message for the person who runs a command. */
export function say(text: string): void {
  // Of a database, a file or a server, it may hold anything.
  process.stderr.write(`svc-iam: ${text.replace(/[^\P{Cc}\n\t]/gu, "\ufffd")}\n`);
}

function messageOf(error: Error): string {
  const { name, message, stack = message } = error;
  if (name === "ServiceError") return refusal(error as Error & { code: string; cause?: unknown });
  return FORESEEN.has(name) ? message : stack;
}

/** The refusal of a server, and what the person can do. */
function refusal({ code, message }: { readonly code: string; readonly message: string }): string {
  switch (code) {
    case "UNAUTHORIZED":
      return `the server does not accept the login (${message}): run svc-iam login`;
    case "UNAVAILABLE":
      return `the server cannot answer now (${message}): check its address and /readyz, and repeat the command`;
    default:
      return `${message} (${code})`;
  }
}
