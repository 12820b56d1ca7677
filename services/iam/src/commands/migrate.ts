import type { TableChange } from "svc-access/database";
import { migrateDatabase } from "svc-access/runtime";
import { loadIamConfig } from "../config/load-iam-config.ts";
import { IAM_TABLES } from "../store/tables.ts";
import { EXIT } from "./run/run-command.ts";

/** Migrates the tables of the runtime and of the service. @returns the exit code */
export async function migrateAll(file: string): Promise<number> {
  const { config } = loadIamConfig(file);
  process.stdout.write(`${REPORTS[await migrateDatabase(config, IAM_TABLES)]}\n`);
  return EXIT.done;
}

const REPORTS: Readonly<Record<TableChange, string>> = {
  created: "created the tables",
  migrated: "migrated the tables to this version",
  unchanged: "the tables already have this version",
};
