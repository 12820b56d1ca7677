import { Command } from "commander";
import { type FormatFlags, withFormat } from "./run/flags.ts";
import { runCommand } from "./run/run-command.ts";

interface MigrateFlags extends FormatFlags {
  readonly dryRun?: boolean;
}

/**
 * The command `svc-iam migrate`.
 *
 * @param configuration the file that is read if none is named
 */
export function migrateCommand(configuration: string): Command {
  return withFormat(
    new Command("migrate")
      .description("Create the tables in the database, or migrate them to this version.")
      .argument("[configuration]", "the file of the configuration", configuration)
      .option("--dry-run", "say what would be done, and change nothing"),
  )
    .addHelpText(
      "after",
      `
Run it as the owner of the tables, before the first start and before each start of a new version, if
the service itself has a role that may only use them. It needs no encryption key. A SpiceDB that has no
schema gets the model. If its schema lacks a part of the model, nothing is changed: write the model of all
services first (svc-access model merge, zed schema write).

Examples:
  DATABASE_URL=$OWNER_URL svc-iam migrate /etc/svc-iam/service.yaml
  svc-iam migrate --dry-run

Exit codes: 0 the tables have this version, 1 a dry run found tables to create or migrate, or a
model to write, 2 usage, or a database or SpiceDB that cannot be used.`,
    )
    .action((file: string, { dryRun = false, format }: MigrateFlags) =>
      runCommand(async () => {
        const { migrateAll, planAll } = await import("./migrate.ts");
        return dryRun ? planAll(file, format) : migrateAll(file, format);
      }),
    );
}
