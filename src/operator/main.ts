import { Command, CommanderError } from "commander";
import { auditCommand } from "./audit/audit.ts";
import { databaseCommand } from "./database/database.ts";
import { OperatorError } from "./operator-error.ts";
import { note } from "./output.ts";
import { relationshipCommand } from "./relationship/relationship.ts";

/** The exit codes: done, findings, and usage or what cannot be opened. */
const EXIT = { done: 0, usage: 2 } as const;

/** What ends in a message, by the names of the errors: whoever reads it can do something about it. */
const EXPECTED: ReadonlySet<string> = new Set([
  "OperatorError",
  "AuthzError",
  "ServiceError",
  "ConfigurationError",
  "StartUpError",
]);

/** The commands of `svc-access` that read what services store; `bin/svc-access` loads them apart from the compiler. */
export async function main(argv: readonly string[] = process.argv): Promise<void> {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    // A reader such as head has read enough.
    if (error.code === "EPIPE") process.exit();
    throw error;
  });
  const program = new Command("svc-access").exitOverride();
  for (const command of [auditCommand(), databaseCommand(), relationshipCommand()]) {
    program.addCommand(command);
  }
  try {
    await program.parseAsync(argv);
  } catch (error) {
    process.exitCode = exitCodeOf(error);
  }
}

function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) {
    // Help and version end in an error of code 0; all others were printed.
    return error.exitCode === 0 ? EXIT.done : EXIT.usage;
  }
  const { name, code, stack, cause } = error as Error & { code?: string };
  // Callers of a service are not told why its database does not answer; its operator is.
  const { message } = name === "ServiceError" && cause instanceof Error ? cause : (error as Error);
  if (code === "ERR_UNKNOWN_BUILTIN_MODULE") {
    note(`this command needs Node 24; this is Node ${process.versions.node}`);
  } else if (error instanceof OperatorError || EXPECTED.has(name)) {
    for (const line of message.split("\n")) note(line);
  } else {
    note(`internal error: ${message.split("\n", 1)[0]}; SVC_ACCESS_DEBUG=1 shows where`);
  }
  if (process.env["SVC_ACCESS_DEBUG"] === "1") process.stderr.write(`${stack}\n`);
  return EXIT.usage;
}
