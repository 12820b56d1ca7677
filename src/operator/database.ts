import { Command } from "commander";
import { note } from "../common/note.ts";
import { readConfig } from "./command/flags.ts";

/** `svc-access database …`: the tables of a service. */
export function databaseCommand(): Command {
  const group = new Command("database").description("Creates the tables of a service.");
  for (const command of [migrateCommand()]) group.addCommand(command);
  return group;
}

/** `svc-access database migrate`. */
function migrateCommand(): Command {
  return new Command("migrate")
    .description(
      "Creates the tables that a service of this version needs, or migrates existing ones.",
    )
    .requiredOption("--config <file>", "the configuration of the service, which names its database")
    .addHelpText(
      "after",
      `
Examples:
  DATABASE_URL=postgres://notes_owner@db/notes svc-access database migrate --config service.yaml

Run it as the role that owns the tables, before a service starts with a role that only uses them. If
the role of the service may create tables, the service does the same when it starts.
Exit codes: 0 the tables have this version, 2 usage, or a database that rejects it.`,
    )
    .action(async ({ config }: { config: string }) => {
      const { migrateDatabase } = await import("../runtime/server/migrate-database.ts");
      await migrateDatabase(await readConfig(config));
      note("the tables have this version");
    });
}
