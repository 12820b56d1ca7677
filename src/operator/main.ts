import { Command } from "commander";
import { runCommands } from "../common/run-commands.ts";
import { version } from "../common/version.ts";
import { auditCommand } from "./audit/audit.ts";
import { databaseCommand } from "./database.ts";
import { relationshipCommand } from "./relationship/relationship.ts";

/** What ends in a message, by the names of the errors: whoever reads it can do something about it. */
const EXPECTED: ReadonlySet<string> = new Set([
  "OperatorError",
  "AuthzError",
  "DatabaseError",
  "ServiceError",
  "ConfigurationError",
  "MissingDriverError",
  "StartUpError",
]);

/** The commands of `svc-access` that read what services store; `bin/svc-access` loads them apart from the compiler. */
export async function main(argv: readonly string[] = process.argv): Promise<void> {
  const program = new Command("svc-access")
    .description("Reads and changes what a service stores, and makes its tables.")
    .version(version);
  for (const command of [auditCommand(), databaseCommand(), relationshipCommand()]) {
    program.addCommand(command);
  }
  await runCommands(program, argv, messageOf);
}

function messageOf(error: unknown): string | undefined {
  const { name, code, cause } = error as Error & { code?: string };
  if (code === "ERR_UNKNOWN_BUILTIN_MODULE") {
    return `this command needs Node 24; this is Node ${process.versions.node}`;
  }
  if (!EXPECTED.has(name)) return undefined;
  // Callers of a service are not told why its database does not answer; its operator is.
  return name === "ServiceError" && cause instanceof Error
    ? cause.message
    : (error as Error).message;
}
