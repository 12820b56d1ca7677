import type { TableChange } from "svc-access/database";
import { migrateDatabase, planMigration, planModel, writeModel } from "svc-access/runtime";
import { loadIamConfig } from "../config/load-iam-config.ts";
import { IAM_TABLES } from "../store/tables.ts";
import { EXIT } from "./run/run-command.ts";

/**
 * Migrates the tables of the runtime and of the service, and writes the model to a SpiceDB that has no
 * schema.
 *
 * @returns the exit code
 */
export async function migrateAll(file: string): Promise<number> {
  const { config } = loadIamConfig(file);
  process.stdout.write(`${REPORTS[await migrateDatabase(config, IAM_TABLES)]}\n`);
  if (await writeModel(config)) process.stdout.write("wrote the model to SpiceDB\n");
  return EXIT.done;
}

/** Says what a migration would do. @returns the exit code */
export async function planAll(file: string): Promise<number> {
  const { config } = loadIamConfig(file);
  const planned = await planMigration(config, IAM_TABLES);
  const pending = planned.filter(({ from, to }) => from < to);
  for (const { component, from, to } of pending) {
    const done = from === 0 ? `create, version ${to}` : `migrate from version ${from} to ${to}`;
    process.stdout.write(`${component}: ${done}\n`);
  }
  if (pending.length === 0) process.stdout.write(`${REPORTS.unchanged}\n`);
  const writesModel = await planModel(config);
  if (writesModel) process.stdout.write("would write the model to SpiceDB\n");
  return pending.length === 0 && !writesModel ? EXIT.done : EXIT.no;
}

const REPORTS: Readonly<Record<TableChange, string>> = {
  created: "created the tables",
  migrated: "migrated the tables to this version",
  unchanged: "the tables already have this version",
};
