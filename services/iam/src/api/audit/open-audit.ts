import { openAuditLog } from "svc-access/runtime";
import { bindIAMAuditService } from "../../../gen/svc/iam/v1/audit_server.ts";
import type { PartContext, ServicePart } from "../service-part.ts";
import { auditHandlers } from "./audit-handlers.ts";

/**
 * Opens IAMAuditService. Its log reads by a connection of its own, so that a long export holds up no
 * writer.
 *
 * @throws DatabaseError if the log cannot be read
 */
export async function openAudit({ configuration }: PartContext): Promise<ServicePart> {
  const { config, sections } = configuration;
  const { organization } = sections.iam;
  const log = await openAuditLog({ config });
  const stopping = new AbortController();
  return {
    bindings: [bindIAMAuditService(auditHandlers(log, organization, stopping.signal))],
    onStopping: () => stopping.abort(),
    onClose: () => log.close(),
  };
}
