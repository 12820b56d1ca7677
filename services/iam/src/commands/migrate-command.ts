import { Command } from "commander";
import { runCommand } from "./run/run-command.ts";

/**
 * The command `svc-iam migrate`.
 *
 * @param configuration the file that is read if none is named
 */
export function migrateCommand(configuration: string): Command {
  return new Command("migrate")
    .description("Create the tables in the database, or migrate them to this version.")
    .argument("[configuration]", "the file of the configuration", configuration)
    .addHelpText(
      "after",
      `
Run it as the owner of the tables, before the first start and before each start of a new version, if
the service itself has a role that may only use them. It needs no encryption key.

Examples:
  DATABASE_URL=$OWNER_URL svc-iam migrate /etc/svc-iam/service.yaml

Exit codes: 0 the tables have this version, 2 usage, or a database that cannot be used.`,
    )
    .action((file: string) =>
      runCommand(async () => (await import("./migrate.ts")).migrateAll(file)),
    );
}
