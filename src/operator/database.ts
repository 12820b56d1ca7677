import { Command, Option } from "commander";
import { note } from "../common/note.ts";
import type { TableChange } from "../database/tables.ts";
import type { ServiceConfig } from "../runtime/configuration/service-config.ts";
import { OperatorError, readConfig } from "./command/flags.ts";

/** `svc-access database …`: the tables of a service. */
export function databaseCommand(): Command {
  const group = new Command("database").description("Creates the tables of a service.");
  for (const command of [migrateCommand()]) group.addCommand(command);
  return group;
}

/** What the command reports. */
const REPORTS: Readonly<Record<TableChange, string>> = {
  created: "created the tables",
  migrated: "migrated the tables to this version",
  unchanged: "the tables already have this version",
};

/** The variable with the URL of the owner. */
const OWNER_URL = "SVC_ACCESS_OWNER_URL";

interface MigrateFlags {
  readonly config: string;
  readonly url?: string;
}

/** `svc-access database migrate`. */
function migrateCommand(): Command {
  return new Command("migrate")
    .description(
      "Creates the tables that a service of this version needs, or migrates existing ones.",
    )
    .requiredOption("--config <file>", "the configuration of the service, which names its database")
    .addOption(
      new Option(
        "--url <URL>",
        "the URL of the owner with its password, instead of database.url and database.password_file",
      ).env(OWNER_URL),
    )
    .addHelpText(
      "after",
      `
Examples:
  svc-access database migrate --config service.yaml
  ${OWNER_URL}=postgres://notes_owner:…@db/notes svc-access database migrate --config service.yaml

Run it as the role that owns the tables, before a service starts with a role that only uses them. If
the role of the service may create tables, the service does the same when it starts. Use the environment
variable to keep a password out of the process list.
Exit codes: 0 the tables have this version, 2 usage, or a database that rejects it.`,
    )
    .action(async ({ config: file, url }: MigrateFlags) => {
      const config = asOwner(await readConfig(file), url);
      const { migrateDatabase } = await import("../runtime/server/migrate-database.ts");
      note(REPORTS[await migrateDatabase(config)]);
    });
}

/** The configuration with the login of the owner; the password file is of the service, and already read. */
function asOwner(config: ServiceConfig, url: string | undefined): ServiceConfig {
  const { database } = config;
  if (url === undefined || database === undefined) return config;
  if (database.driver !== "postgres") {
    throw new OperatorError(
      `--url (${OWNER_URL}) is for PostgreSQL, and the driver of the configuration is ${database.driver}: leave it out`,
    );
  }
  if (!/^postgres(ql)?:\/\//.test(url)) {
    // Not quoted: it may contain a password.
    throw new OperatorError(
      `--url (${OWNER_URL}) is ${url === "" ? "empty" : "not valid"}: write postgres://owner:password@host:port/database`,
    );
  }
  return { ...config, database: { ...database, url } };
}
