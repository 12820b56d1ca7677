import type { EngineKind } from "../../authz/engine/engine.ts";
import { SILENT } from "../../common/logger.ts";
import type { DatabaseKind, DatabaseSettings } from "../../database/database.ts";
import { relationshipsFile } from "../../database/relationships-file.ts";
import { migrate } from "../../database/service/migrate.ts";
import { openDatabase } from "../../database/service/open-database.ts";
import { AUDIT_MIGRATIONS } from "../audit/store/audit-table.ts";
import type { ServiceConfig } from "../configuration/service-config.ts";
import { StartUpError } from "../error/start-up-error.ts";

/**
 * Makes the tables that a service of this configuration needs, or changes them to those of this
 * version: a step of its own, for a role that owns them, before a service starts whose role does not.
 * A service whose role may make them does the same when it starts.
 *
 * @throws StartUpError where no database is configured; DatabaseError, or AuthzError for the
 * relationships, where it is down, the role may not make the tables, or they are those of a newer version
 *
 * @example
 * ```ts
 * await migrateDatabase(loadServiceConfig("service.yaml").config);
 * ```
 */
export async function migrateDatabase(config: ServiceConfig): Promise<void> {
  const settings = config.database;
  if (settings === undefined) {
    throw new StartUpError(["database is missing: name the database whose tables to create"]);
  }
  // A step of a release says that it failed, and nothing else: how long a statement took is not
  // an incident of a service that is not there yet.
  const database = await openDatabase(settings, { logger: SILENT });
  try {
    await migrate(database, AUDIT_MIGRATIONS);
  } finally {
    await database.close();
  }
  const { provider, model } = config.security.authz;
  if (KEEPS_RELATIONSHIPS[provider] && model !== undefined) {
    await MIGRATE_STORE[settings.driver](settings);
  }
}

/** Whether an engine keeps its relationships in the database of the service. */
const KEEPS_RELATIONSHIPS: Readonly<Record<EngineKind, boolean>> = {
  embedded: true,
  spicedb: false,
};

/** Makes the tables of the relationships, or changes them to those of this version. */
const MIGRATE_STORE: Readonly<Record<DatabaseKind, (settings: DatabaseSettings) => Promise<void>>> =
  {
    sqlite: async ({ file }) => {
      const { openSqliteStore } = await import("../../authz/store/sqlite/open-sqlite-store.ts");
      const store = await openSqliteStore({ file: relationshipsFile(file as string) });
      await store.close();
    },
    postgres: async ({ url }) => {
      const { migratePostgresStore } = await import(
        "../../authz/store/postgres/open-postgres-store.ts"
      );
      return migratePostgresStore({ url: url as string });
    },
  };
