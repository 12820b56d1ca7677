import type { Logger as QueryLogger } from "kysely";
import type { Logger } from "../../common/logger.ts";
import type { Database, DatabaseSettings } from "../database.ts";
import { DatabaseError } from "../database-error.ts";
import { BusyPatience } from "../sqlite/busy-patience.ts";
import { sqliteFileProblem } from "../sqlite/sqlite-file.ts";

/** The options that are not in the configuration. */
export interface OpenDatabaseOptions {
  /** The logger for slow statements. */
  readonly logger: Logger;
  /** The schema of the tables in PostgreSQL; the default is `svc_access`. */
  readonly schema?: string;
}

const SCHEMA = "svc_access";

/**
 * Opens the database in a service's configuration. A server that is down is not an error here:
 * code that needs tables calls `migrate`.
 *
 * @throws DatabaseError with the fix, if it cannot be opened or its URL cannot be read
 */
export async function openDatabase<Tables>(
  settings: DatabaseSettings,
  { logger, schema = SCHEMA }: OpenDatabaseOptions,
): Promise<Database<Tables>> {
  const log = slowQueries(logger, settings.slow_query_threshold_ns);
  // The PostgreSQL client is large, so it is loaded only when needed.
  switch (settings.driver) {
    case "sqlite": {
      const { SqliteDatabase } = await import("../sqlite/sqlite-database.ts");
      const problem = sqliteFileProblem(settings.file ?? "");
      if (problem !== undefined) throw new DatabaseError("INVALID_ARGUMENT", `file ${problem}`);
      // Another process that starts at the same time may be creating the file.
      return new BusyPatience().run(() => new SqliteDatabase<Tables>(settings.file as string, log));
    }
    case "postgres": {
      const { PostgresDatabase } = await import("../postgres/postgres-database.ts");
      return new PostgresDatabase<Tables>(settings, schema, log);
    }
  }
}

const NANOSECONDS = 1_000_000;
const SHOWN = 500;

/** Logs statements that take longer than the threshold, without their parameters. */
function slowQueries(logger: Logger, thresholdNanoseconds: number): QueryLogger {
  const threshold = thresholdNanoseconds / NANOSECONDS;
  return ({ level, query, queryDurationMillis }) => {
    if (queryDurationMillis < threshold) return;
    const duration_ms = Math.round(queryDurationMillis);
    const failed = level === "error";
    logger.warn({ sql: query.sql.slice(0, SHOWN), duration_ms, failed }, "slow query");
  };
}
