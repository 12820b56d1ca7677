import { ENGINE_TRAITS } from "../../authz/engine/engine-kinds.ts";
import { SILENT } from "../../common/logger.ts";
import type { DatabaseKind, DatabaseSettings } from "../../database/database.ts";
import { componentVersion, type MigrationSet } from "../../database/service/migrate.ts";
import { openDatabase } from "../../database/service/open-database.ts";
import { migrationSetOf, type ServiceTables } from "../../database/service/service-migration.ts";
import {
  isAbsentDatabase,
  isAbsentFile,
  relationshipsFile,
} from "../../database/sqlite/sqlite-file.ts";
import type { TableVersion } from "../../database/tables.ts";
import type { ServiceConfig } from "../configuration/service-config.ts";
import { StartUpError } from "../error/start-up-error.ts";
import { RUNTIME_MIGRATIONS } from "./migrate-database.ts";

/** The tables of one part of a service, as `migrateDatabase` would find and leave them. */
export interface PlannedMigration {
  /** The part, such as `audit`, `relationship`, or the component of the service. */
  readonly component: string;
  /** The version in the database; 0 if it has no tables. */
  readonly from: number;
  /** The version of this program. */
  readonly to: number;
}

/**
 * Says what `migrateDatabase` would do, and changes nothing. A file of SQLite that does not exist is not
 * created.
 *
 * @param config - the configuration of the service
 * @param tables - the tables of the service itself, if it has any
 * @returns a line for each part, also for those that have this version
 * @throws as `migrateDatabase`; with SQLite also while a process holds the store of relationships, whose
 * tables then have the version of that process
 *
 * @example
 * ```ts
 * const planned = await planMigration(loadServiceConfig("service.yaml").config);
 * const pending = planned.filter(({ from, to }) => from < to);
 * ```
 */
export async function planMigration(
  config: ServiceConfig,
  tables?: ServiceTables,
): Promise<readonly PlannedMigration[]> {
  const settings = config.database;
  if (settings === undefined) {
    throw new StartUpError(["database is missing: name the database whose tables to create"]);
  }
  const sets = [...RUNTIME_MIGRATIONS, ...(tables === undefined ? [] : [migrationSetOf(tables)])];
  const planned = await versionsOf(settings, sets);
  const { provider, model } = config.security.authz;
  if (ENGINE_TRAITS[provider].elsewhere !== undefined || model === undefined) return planned;
  const store = await STORE_VERSION[settings.driver](settings);
  return [...planned, plannedOf(store)];
}

async function versionsOf(
  settings: DatabaseSettings,
  sets: readonly MigrationSet[],
): Promise<readonly PlannedMigration[]> {
  if (isAbsentDatabase(settings)) {
    return sets.map(({ component, steps }) => ({ component, from: 0, to: steps.length }));
  }
  const database = await openDatabase(settings, { logger: SILENT });
  try {
    const planned: PlannedMigration[] = [];
    for (const set of sets) planned.push(plannedOf(await componentVersion(database, set)));
    return planned;
  } finally {
    await database.close();
  }
}

/** The version of the tables of the relationships. */
const STORE_VERSION: Readonly<
  Record<DatabaseKind, (settings: DatabaseSettings) => Promise<TableVersion>>
> = {
  sqlite: async ({ file: database }) => {
    const { sqliteStoreVersion, STORE_TABLES } = await import(
      "../../authz/store/sqlite/open-sqlite-store.ts"
    );
    const file = relationshipsFile(database as string);
    return isAbsentFile(file) ? { ...STORE_TABLES, name: file } : sqliteStoreVersion({ file });
  },
  postgres: async ({ url }) => {
    const { postgresStoreVersion } = await import(
      "../../authz/store/postgres/open-postgres-store.ts"
    );
    return postgresStoreVersion({ url: url as string });
  },
};

function plannedOf({ component, made: from, known: to }: TableVersion): PlannedMigration {
  return { component, from, to };
}
