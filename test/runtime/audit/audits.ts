import type { Logger } from "../../../src/common/logger.ts";
import type { Database } from "../../../src/database/database.ts";
import type { AuditEvent } from "../../../src/runtime/audit/event/audit-event.ts";
import { openAudit, type ServiceAudit } from "../../../src/runtime/audit/open-audit.ts";
import type { BoundMethod } from "../../../src/runtime/binding/bound-method.ts";
import { NO_EVENTS } from "../../../src/runtime/events/runtime-events.ts";

/** A logger that records its events. */
export function logOf(lines: AuditEvent[]): { logger: Logger; events: typeof NO_EVENTS } {
  const keep = (fields: object) => {
    const { audit } = fields as { audit?: AuditEvent };
    if (audit !== undefined) lines.push(audit);
  };
  return {
    logger: { debug() {}, info: keep, warn() {}, error() {} },
    events: NO_EVENTS,
  };
}

/** Opens the audit of a service `hub`, and returns the events that it logs. */
export async function auditOf(
  database: Database<unknown>,
  methods: readonly BoundMethod[],
): Promise<{ audit: ServiceAudit; lines: AuditEvent[] }> {
  const lines: AuditEvent[] = [];
  const options = { ...logOf(lines), methods, database, service: "hub", instance: "replica-1" };
  return { audit: await openAudit(options), lines };
}
