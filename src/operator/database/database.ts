import { Command } from "commander";
import { migrateCommand } from "./migrate.ts";

/** `svc-access database …`: the tables of a service. */
export function databaseCommand(): Command {
  const group = new Command("database").description("Makes the tables of a service.");
  for (const command of [migrateCommand()]) group.addCommand(command);
  return group;
}
