import { Command } from "commander";
import { withCommands } from "../sub-command.ts";
import { migrateCommand } from "./migrate.ts";

/** `svc-access database …`: the tables of a service. */
export function databaseCommand(): Command {
  const group = new Command("database").description("Makes the tables of a service.");
  return withCommands(group, [migrateCommand()]);
}
