import { DatabaseError } from "svc-access/database";
import { ConfigurationError } from "svc-access/runtime";
import { EncryptionKeyError } from "../secrets/encryption-keys.ts";

const UNUSABLE = [ConfigurationError, DatabaseError, EncryptionKeyError];

/**
 * Runs a command beside the service, and sets the exit code of the process: what the command returns, or
 * 2 for a problem that a person must fix, whose message is printed. Other errors are thrown.
 */
export async function runCommand(command: () => Promise<number>): Promise<void> {
  try {
    process.exitCode = await command();
  } catch (error) {
    if (!UNUSABLE.some((kind) => error instanceof kind)) throw error;
    process.stderr.write(`svc-iam: ${(error as Error).message}\n`);
    process.exitCode = 2;
  }
}
