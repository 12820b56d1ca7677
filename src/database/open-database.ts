import { BusyPatience } from "../authz/store/sqlite/busy-patience.ts";
import { assertSqliteFile } from "../authz/store/sqlite/sqlite-file.ts";
import type { Logger } from "../runtime/operation/logger.ts";
import type { Database, DatabaseSettings } from "./database.ts";
import { slowQueries } from "./slow-queries.ts";

/** What is not in the configuration. */
export interface OpenDatabaseOptions {
  /** Where slow statements are told. */
  readonly logger: Logger;
  /** The schema of the tables in PostgreSQL; `svc_access` where absent. */
  readonly schema?: string;
}

const SCHEMA = "svc_access";

/**
 * Opens the database that a service's configuration names. A server that is down is
 * no error here: whoever needs its tables asks for them with `migrate`.
 *
 * @throws AuthzError that says the mend, where it cannot be opened or its URL be read
 */
export async function openDatabase<Tables>(
  settings: DatabaseSettings,
  { logger, schema = SCHEMA }: OpenDatabaseOptions,
): Promise<Database<Tables>> {
  const log = slowQueries(logger, settings.slow_query_threshold_ns);
  // Loaded when it is needed: the client of PostgreSQL is large.
  if (settings.driver === "sqlite") {
    const { SqliteDatabase } = await import("./sqlite-database.ts");
    assertSqliteFile(settings.file ?? "", "");
    // Another process that starts at the same moment may be making the file.
    return new BusyPatience().run(() => new SqliteDatabase<Tables>(settings.file as string, log));
  }
  const { PostgresDatabase } = await import("./postgres-database.ts");
  return new PostgresDatabase<Tables>(settings, schema, log);
}
