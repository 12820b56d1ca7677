import type { Logger } from "../../common/logger.ts";
import { partsOf, type ServerDatabase } from "../../database/service/server-database.ts";
import type { AuditPrincipal } from "../audit/event/audit-event.ts";
import { openAuditTables } from "../audit/open-audit-tables.ts";
import { type AuditRecorder, StoredAuditRecorder } from "../audit/recorder/audit-recorder.ts";
import type { ServiceConfig } from "../configuration/service-config.ts";
import { createLogger, loggerOptionsOf } from "../logging/create-logger.ts";
import { newInstanceId } from "../registry/route-keys.ts";

/** How a recorder is opened. */
export interface AuditRecorderOptions {
  /** The database of the service, opened with `openServiceDatabase`. Close it after the recorder. */
  readonly database: ServerDatabase;
  /** The logger, which gets each event too; one of `createLogger` if absent. */
  readonly logger?: Logger;
  /** Who does what is recorded, such as the operator who runs a command; nobody if absent. */
  readonly principal?: AuditPrincipal;
}

/**
 * Opens a recorder of audit events outside of calls: for jobs, for what a service does at its start,
 * and for commands beside a service that runs. Pass it to `createServer` or `runServer`, which then
 * counts its events in the metrics and closes it; without a server, close it yourself. In calls, use
 * `context.audit`.
 *
 * @param config - the configuration of the service
 * @throws DatabaseError if the tables of audit cannot be made, are of a newer version, or the
 * database is down; TypeError for a database of another making
 *
 * @example
 * ```ts
 * const { config } = loadServiceConfig("service.yaml");
 * const database = await openServiceDatabase(config, { component: "topics", migrations: [] });
 * const recorder = await openAuditRecorder(config, { database });
 * await recorder.record({ event: "topics.imported", riskLevel: "HIGH", details: { count: 3 } });
 * await recorder.close();
 * await database.close();
 * ```
 */
export async function openAuditRecorder(
  config: ServiceConfig,
  options: AuditRecorderOptions,
): Promise<AuditRecorder> {
  const { database: given, logger = createLogger(loggerOptionsOf(config)), principal } = options;
  const parts = partsOf(given);
  if (parts === undefined) {
    throw new TypeError("the database of a recorder must be one of openServiceDatabase");
  }
  const database = await openAuditTables(parts.database, config.audit.retention_days);
  const source = { service: config.service, instance: newInstanceId() };
  return new StoredAuditRecorder({ source, database, logger, principal });
}
