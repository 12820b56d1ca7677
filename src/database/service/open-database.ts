import type { Logger } from "../../common/logger.ts";
import type { Database, DatabaseSettings } from "../database.ts";
import { DatabaseError } from "../database-error.ts";
import { BusyPatience } from "../sqlite/busy-patience.ts";
import { sqliteFileProblem } from "../sqlite/sqlite-file.ts";
import { slowQueries } from "./slow-queries.ts";

/** What is not in the configuration. */
export interface OpenDatabaseOptions {
  /** Where slow statements are reported. */
  readonly logger: Logger;
  /** The schema of the tables in PostgreSQL; `svc_access` where absent. */
  readonly schema?: string;
}

const SCHEMA = "svc_access";

/**
 * Opens the database that a service's configuration names. A server that is down is
 * no error here: whoever needs its tables asks for them with `migrate`.
 *
 * @throws DatabaseError that says the fix, where it cannot be opened or its URL be read
 */
export async function openDatabase<Tables>(
  settings: DatabaseSettings,
  { logger, schema = SCHEMA }: OpenDatabaseOptions,
): Promise<Database<Tables>> {
  const log = slowQueries(logger, settings.slow_query_threshold_ns);
  // Loaded when it is needed: the client of PostgreSQL is large.
  switch (settings.driver) {
    case "sqlite": {
      const { SqliteDatabase } = await import("../sqlite/sqlite-database.ts");
      const problem = sqliteFileProblem(settings.file ?? "");
      if (problem !== undefined) throw new DatabaseError("INVALID_ARGUMENT", `file ${problem}`);
      // Another process that starts at the same moment may be making the file.
      return new BusyPatience().run(() => new SqliteDatabase<Tables>(settings.file as string, log));
    }
    case "postgres": {
      const { PostgresDatabase } = await import("../postgres/postgres-database.ts");
      return new PostgresDatabase<Tables>(settings, schema, log);
    }
  }
}
