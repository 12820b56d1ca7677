import { openAuditLog } from "svc-access/runtime";
import { bindIAMAuditService } from "../../../gen/svc/iam/v1/audit_server.ts";
import type { PartContext, ServicePart } from "../service-part.ts";
import { refuseBarredCallers } from "../users/barred-callers.ts";
import { auditHandlers } from "./audit-handlers.ts";
import { StandingReaders } from "./standing-readers.ts";

/**
 * Opens IAMAuditService. Its log reads by a connection of its own, so that a long export holds up no
 * writer.
 *
 * @throws DatabaseError if the log cannot be read
 */
export async function openAudit({
  configuration,
  database,
  engine,
  identity,
}: PartContext): Promise<ServicePart> {
  const { config, sections } = configuration;
  const { organization } = sections.iam;
  const log = await openAuditLog({ config });
  const stopping = new AbortController();
  const readers = new StandingReaders({
    engine,
    revocations: identity.ended.feed,
    refuseBarred: refuseBarredCallers(database, organization),
  });
  const handlers = auditHandlers(log, organization, { readers, stopping: stopping.signal });
  return {
    bindings: [bindIAMAuditService(handlers)],
    onStopping: () => stopping.abort(),
    onClose: () => log.close(),
  };
}
