import { sql } from "kysely";
import { SILENT } from "../../../common/logger.ts";
import { type Database, readingSettings } from "../../../database/database.ts";
import { DatabaseError } from "../../../database/database-error.ts";
import { openDatabase } from "../../../database/service/open-database.ts";
import { readVersion } from "../../../database/tables.ts";
import type { ServiceConfig } from "../../configuration/service-config.ts";
import { AUDIT_MIGRATIONS, type AuditTables } from "../tables/audit-table.ts";
import { type AuditLog, StoredAuditLog } from "./audit-log.ts";

/** Which database: of a configuration, a file of SQLite, or a URL of PostgreSQL. */
export type AuditSource =
  | {
      /** The configuration of the service, such as `loadServiceConfig` gives. */
      readonly config: Pick<ServiceConfig, "database">;
    }
  | {
      /** The file of SQLite, which must exist. */
      readonly file: string;
    }
  | {
      /** `postgres://user:password@host:port/database`. */
      readonly url: string;
      /** The schema of the tables; `svc_access` if absent. */
      readonly schema?: string;
    };

/** How a log is opened. */
export interface OpenAuditLogOptions {
  /** How often followers look for changes, in milliseconds; 1000 if absent, and never more often than every 50. */
  readonly pollMs?: number;
}

/** A log that was opened by itself; who opened it closes it. */
export interface OpenedAuditLog extends Pick<AuditLog, "list" | "export" | "follow" | "position"> {
  /** Ends all followers, and closes the connections. */
  close(): Promise<void>;
}

const LEAST_POLL = 50;

/**
 * Opens the audit log of a service in another process, to read it while the service runs: it
 * changes nothing, and blocks no writer. SQLite creates the files `-wal` and `-shm` if they do not
 * exist.
 *
 * @throws DatabaseError that says how to fix it, if there is no log, or it is of another version
 *
 * @example
 * ```ts
 * const log = await openAuditLog({ file: "notes.db" });
 * for await (const line of auditLines(log.export({ decision: "denied" }))) process.stdout.write(line);
 * await log.close();
 * ```
 */
export async function openAuditLog(
  source: AuditSource,
  { pollMs = 1000 }: OpenAuditLogOptions = {},
): Promise<OpenedAuditLog> {
  const database = await openSource(source);
  try {
    await assertTables(database);
  } catch (error) {
    await database.close();
    throw database.explain(error);
  }
  const log = new StoredAuditLog(database, Date.now, Math.max(LEAST_POLL, pollMs));
  return {
    list: (...args) => log.list(...args),
    export: (...args) => log.export(...args),
    follow: (...args) => log.follow(...args),
    position: () => log.position(),
    close: async () => {
      log.close();
      await database.close();
    },
  };
}

async function openSource(source: AuditSource): Promise<Database<AuditTables>> {
  // A loaded configuration has a file, too: its own.
  if ("config" in source) return openConfigured(source.config);
  return "file" in source ? openFile(source.file) : openServer(source.url, source.schema);
}

async function openConfigured({
  database: settings,
}: Pick<ServiceConfig, "database">): Promise<Database<AuditTables>> {
  if (settings === undefined) {
    throw new DatabaseError("FAILED_PRECONDITION", "the configuration has no database");
  }
  switch (settings.driver) {
    case "sqlite":
      return openFile(settings.file as string);
    case "postgres":
      return openServer(settings.url as string, undefined);
  }
}

async function openFile(file: string): Promise<Database<AuditTables>> {
  const { ReadOnlySqlite } = await import("../../../database/sqlite/read-only-sqlite.ts");
  return new ReadOnlySqlite<AuditTables>(file);
}

function openServer(url: string, schema: string | undefined): Promise<Database<AuditTables>> {
  const settings = readingSettings({ driver: "postgres", url });
  return openDatabase(settings, { logger: SILENT, ...(schema === undefined ? {} : { schema }) });
}

/** The tables must be those of this version: they are read, not made. */
async function assertTables(database: Database<AuditTables>): Promise<void> {
  const { name } = database;
  const known = AUDIT_MIGRATIONS.steps.length;
  const made = await readVersion(async () => {
    const row = await database
      .as<{ component_migrations: { component: string; version: number } }>()
      .kysely.selectFrom("component_migrations")
      .where("component", "=", AUDIT_MIGRATIONS.component)
      .select(sql<number | null>`max(version)`.as("version"))
      .executeTakeFirst();
    return row ?? { version: null };
  });
  if (made === known) return;
  const problem =
    made === 0
      ? "has no audit log: name the database of a service"
      : made > known
        ? `has version ${made} of the audit tables and this program knows ${known}: use the newer program that made them`
        : `has version ${made} of the audit tables and this program reads ${known}: start the service with this version first`;
  throw new DatabaseError("FAILED_PRECONDITION", `${name} ${problem}`);
}
