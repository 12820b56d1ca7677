import { AuthzError } from "svc-access/authz";
import { DatabaseError } from "svc-access/database";
import { ConfigurationError, StartUpError } from "svc-access/runtime";
import { EncryptionKeyError } from "../secrets/encryption-keys.ts";

const UNUSABLE = [AuthzError, ConfigurationError, DatabaseError, EncryptionKeyError, StartUpError];
const EXIT_UNUSABLE = 2;

/**
 * Runs a command beside the service, and sets the exit code of the process: what the command returns, or
 * 2 for a problem that a person must fix, whose message is printed. The code of other errors is 2
 * as well, since 1 is a result of commands.
 */
export async function runCommand(command: () => Promise<number>): Promise<void> {
  try {
    process.exitCode = await command();
  } catch (error) {
    const isForeseen = UNUSABLE.some((kind) => error instanceof kind);
    const { message, stack = message } = error as Error;
    say(isForeseen ? message : stack);
    process.exitCode = EXIT_UNUSABLE;
  }
}

/** Prints a message for the person who runs a command. */
export function say(text: string): void {
  // Of a database or a file, it may hold anything.
  process.stderr.write(`svc-iam: ${text.replace(/[^\P{Cc}\n\t]/gu, "\ufffd")}\n`);
}
