import { type Logger, SILENT } from "../../common/logger.ts";
import type { DatabaseSettings } from "../database.ts";
import { DatabaseError } from "../database-error.ts";
import type { TableChange } from "../tables.ts";
import { migrate } from "./migrate.ts";
import { openDatabase } from "./open-database.ts";
import { OpenServiceDatabase, type ServiceDatabase } from "./service-database.ts";
import { migrationSetOf, type ServiceTables } from "./service-migration.ts";

/** The part of a service's configuration that names its database. */
export interface DatabaseConfig {
  /** The section `database`. */
  readonly database?: DatabaseSettings | undefined;
}

/** How the database of a service is opened. */
export interface ServiceDatabaseOptions extends ServiceTables {
  /** The logger for slow statements; the one of the server that gets the database if absent. */
  readonly logger?: Logger;
}

/**
 * Opens the database of a service's configuration, and migrates its tables to those of this program.
 * Of several processes that start at once, one migrates and the others wait. Pass the database to
 * `createServer` or `runServer`, which then share its connections, and check and close it; without a
 * server, close it yourself.
 *
 * @param config - the configuration of the service
 * @param options - its tables
 * @throws DatabaseError FAILED_PRECONDITION if the configuration has no database, a newer program
 * made the tables, their history is another one, a migration fails, or the role lacks a right;
 * UNAVAILABLE if the database is down
 * @throws MissingDriverError if PostgreSQL is configured and `pg` is not installed
 * @throws TypeError for names that are not valid: a mistake of the program
 *
 * @typeParam Tables - the tables, as types of Kysely
 *
 * @example
 * ```ts
 * const database = await openServiceDatabase<Tables>(configuration.config, {
 *   component: "topics",
 *   migrations: [createTopics],
 * });
 * const server = await createServer({ configuration, bindings, database });
 * const topics = await database.kysely.selectFrom("topics").selectAll().execute();
 * ```
 */
export async function openServiceDatabase<Tables>(
  config: DatabaseConfig,
  options: ServiceDatabaseOptions,
): Promise<ServiceDatabase<Tables>> {
  const { database } = await openMigrated<Tables>(config, options);
  return database;
}

async function openMigrated<Tables>(
  config: DatabaseConfig,
  options: ServiceDatabaseOptions,
): Promise<{ readonly database: ServiceDatabase<Tables>; readonly change: TableChange }> {
  const set = migrationSetOf(options);
  let logger = options.logger ?? SILENT;
  const settings = settingsOf(config);
  const database = await openDatabase<Tables>(settings, {
    logger: {
      debug: (...line) => logger.debug(...line),
      info: (...line) => logger.info(...line),
      warn: (...line) => logger.warn(...line),
      error: (...line) => logger.error(...line),
    },
  });
  const setLogger = (next: Logger) => {
    if (options.logger === undefined) logger = next;
  };
  try {
    const change = await migrate(database, set);
    return { database: new OpenServiceDatabase(database, { settings, setLogger }), change };
  } catch (error) {
    await database.close();
    throw error;
  }
}

/**
 * Creates or migrates the tables of a service, as the role that owns them. Run it before the start of
 * a service whose role only uses its tables, beside `migrateDatabase` or `svc-access database migrate`,
 * which make those of the runtime. A service whose role has the rights does the same at its start.
 *
 * @param config - the configuration of the service, with the URL of the owner
 * @param tables - the tables, as the service opens them
 * @returns whether it made the first tables, changed existing ones, or had nothing to do
 * @throws as `openServiceDatabase`
 *
 * @example
 * ```ts
 * const { config } = loadServiceConfig("service.yaml");
 * await migrateDatabase(config);
 * await migrateServiceDatabase(config, { component: "topics", migrations: [createTopics] });
 * ```
 */
export async function migrateServiceDatabase(
  config: DatabaseConfig,
  tables: ServiceTables,
): Promise<TableChange> {
  const { database, change } = await openMigrated(config, tables);
  await database.close();
  return change;
}

function settingsOf({ database }: DatabaseConfig): DatabaseSettings {
  if (database !== undefined) return database;
  throw new DatabaseError(
    "FAILED_PRECONDITION",
    "the configuration has no database: add one to it, such as database: {driver: sqlite, file: service.db}",
  );
}
