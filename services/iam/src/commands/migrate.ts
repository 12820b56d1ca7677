import type { TableChange } from "svc-access/database";
import { migrateDatabase, planMigration, planModel, writeModel } from "svc-access/runtime";
import { loadMigrationConfig } from "../config/load-iam-config.ts";
import { IAM_TABLES } from "../ground/store/tables.ts";
import { type Format, printJson, printLine } from "./run/print.ts";
import { EXIT } from "./run/run-command.ts";

/**
 * Migrates the tables of the runtime and of the service, and writes the model to a SpiceDB that has no
 * schema. If SpiceDB has another one, it changes nothing: replicas of the former version do not start
 * with newer tables, and those of this version are not ready without their model.
 *
 * @returns the exit code
 */
export async function migrateAll(file: string, format: Format): Promise<number> {
  const { config } = loadMigrationConfig(file);
  await planModel(config);
  const tables = await migrateDatabase(config, IAM_TABLES);
  if (format === "text") await printLine(REPORTS[tables]);
  const modelWritten = await writeModel(config);
  if (format === "json") await printJson({ tables, modelWritten });
  else if (modelWritten) await printLine("wrote the model to SpiceDB");
  return EXIT.done;
}

/** Says what a migration would do, and fails where it would. @returns the exit code */
export async function planAll(file: string, format: Format): Promise<number> {
  const { config } = loadMigrationConfig(file);
  const writesModel = await planModel(config);
  const planned = await planMigration(config, IAM_TABLES);
  const pending = planned.filter(({ from, to }) => from < to);
  if (format === "text") {
    for (const { component, from, to } of pending) {
      const done = from === 0 ? `create, version ${to}` : `migrate from version ${from} to ${to}`;
      await printLine(`${component}: ${done}`);
    }
    if (pending.length === 0) await printLine(REPORTS.unchanged);
  }
  if (format === "json") await printJson({ pending, writesModel });
  else if (writesModel) await printLine("would write the model to SpiceDB");
  return pending.length === 0 && !writesModel ? EXIT.done : EXIT.no;
}

const REPORTS: Readonly<Record<TableChange, string>> = {
  created: "created the tables",
  migrated: "migrated the tables to this version",
  unchanged: "the tables already have this version",
};
