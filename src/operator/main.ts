import { Command } from "commander";
import { version } from "../common/version.ts";
import { runCommands } from "../diagnostics/run-commands.ts";
import { auditCommand } from "./audit/audit.ts";
import { databaseCommand } from "./database.ts";
import { relationshipCommand } from "./relationship/relationship.ts";

/** The names of errors that the user can fix, which are reported as messages. */
const EXPECTED: ReadonlySet<string> = new Set([
  "OperatorError",
  "AuthzError",
  "DatabaseError",
  "ServiceError",
  "ConfigurationError",
  "MissingDriverError",
  "StartUpError",
]);

/** The commands of `svc-access` for the data of services; `bin/svc-access` loads them separately from the compiler. */
export async function main(argv: readonly string[] = process.argv): Promise<void> {
  const program = new Command("svc-access")
    .description("Reads and changes the stored data of a service, and creates its tables.")
    .version(version);
  for (const command of [auditCommand(), databaseCommand(), relationshipCommand()]) {
    program.addCommand(command);
  }
  await runCommands(program, argv, { messageOf });
}

function messageOf(error: unknown): string | undefined {
  const { name, code, cause } = error as Error & { code?: string };
  if (code === "ERR_UNKNOWN_BUILTIN_MODULE") {
    return `this command needs Node.js 24; this is Node.js ${process.versions.node}`;
  }
  if (!EXPECTED.has(name)) return undefined;
  // A service hides from its callers why its database does not answer, but operators must know.
  return name === "ServiceError" && cause instanceof Error
    ? cause.message
    : (error as Error).message;
}
