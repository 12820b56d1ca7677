import { ENGINE_TRAITS } from "../../authz/engine/engine-kinds.ts";
import { SILENT } from "../../common/logger.ts";
import type { DatabaseKind, DatabaseSettings } from "../../database/database.ts";
import { migrate } from "../../database/service/migrate.ts";
import { openDatabase } from "../../database/service/open-database.ts";
import { migrateServiceDatabase } from "../../database/service/open-service-database.ts";
import type { ServiceTables } from "../../database/service/service-migration.ts";
import { relationshipsFile } from "../../database/sqlite/sqlite-file.ts";
import { joinChanges, type TableChange } from "../../database/tables.ts";
import { AUDIT_MIGRATIONS } from "../audit/tables/audit-table.ts";
import type { ServiceConfig } from "../configuration/service-config.ts";
import { StartUpError } from "../error/start-up-error.ts";
import { KEY_MIGRATIONS } from "../idempotency/key-table.ts";
import { JOB_MIGRATIONS } from "../jobs/job-lease.ts";
import { REMOVAL_MIGRATIONS } from "../removals/removal-table.ts";

/**
 * Creates the tables that a service of this configuration needs, or migrates them to this version.
 * Run it as the owner of the tables before the start of a service whose role does not own them. A
 * service whose role has the rights does the same when it starts.
 *
 * @param config - the configuration of the service, with the login of the owner
 * @param tables - the tables of the service itself, if it has any
 * @returns `created` if the database had none of these tables, `migrated` if tables were added or
 * changed, `unchanged` if all have this version
 * @throws StartUpError if no database is configured; DatabaseError, or AuthzError for the
 * relationships, if it is down, the role lacks rights, or the tables have a newer version
 *
 * @example
 * ```ts
 * const change = await migrateDatabase(loadServiceConfig("service.yaml").config);
 * console.log(`tables: ${change}`);
 * ```
 */
export async function migrateDatabase(
  config: ServiceConfig,
  tables?: ServiceTables,
): Promise<TableChange> {
  const settings = config.database;
  if (settings === undefined) {
    throw new StartUpError(["database is missing: name the database whose tables to create"]);
  }
  // A step of a release only reports its failure: a slow statement is not an incident, since the
  // service does not run yet.
  const database = await openDatabase(settings, { logger: SILENT });
  const changes: TableChange[] = [];
  try {
    for (const set of RUNTIME_MIGRATIONS) {
      // The command of the service makes these tables too, so it is what a role without rights needs.
      const program = tables?.migrateCommand;
      changes.push(await migrate(database, program === undefined ? set : { ...set, program }));
    }
  } finally {
    await database.close();
  }
  const { provider, model } = config.security.authz;
  if (ENGINE_TRAITS[provider].elsewhere === undefined && model !== undefined) {
    changes.push(await MIGRATE_STORE[settings.driver](settings));
  }
  if (tables !== undefined) changes.push(await migrateServiceDatabase(config, tables));
  return joinChanges(changes);
}

/** The tables of the runtime. */
export const RUNTIME_MIGRATIONS = [
  AUDIT_MIGRATIONS,
  JOB_MIGRATIONS,
  KEY_MIGRATIONS,
  REMOVAL_MIGRATIONS,
] as const;

/** Creates the tables of the relationships, or migrates them to this version. */
const MIGRATE_STORE: Readonly<
  Record<DatabaseKind, (settings: DatabaseSettings) => Promise<TableChange>>
> = {
  sqlite: async ({ file }) => {
    const { migrateSqliteStore } = await import("../../authz/store/sqlite/open-sqlite-store.ts");
    return migrateSqliteStore({ file: relationshipsFile(file as string) });
  },
  postgres: async ({ url }) => {
    const { migratePostgresStore } = await import(
      "../../authz/store/postgres/open-postgres-store.ts"
    );
    return migratePostgresStore({ url: url as string });
  },
};
