import type { AuditRecord, AuditRecorder } from "svc-access/runtime";
import type { BootstrapLink } from "./bootstrap-links.ts";

/** Links are made by operators, one at a time. */
const MOST = 100;

/**
 * Records that a link has made an owner. That must be stored before the link ends, since whatever is left of it
 * makes whoever continues record it; a second event after a failure is possible, none is not. In a process, those
 * who use a link at the same moment share an event.
 */
export class UsedLinks {
  readonly #recorded = new Map<string, Promise<void>>();

  /**
   * Records the use of a link, unless this process has.
   *
   * @throws ServiceError UNAVAILABLE if the event cannot be stored
   */
  record(
    { hash, zone }: Pick<BootstrapLink, "hash" | "zone">,
    userId: string,
    audit: Pick<AuditRecorder, "record">,
  ): Promise<void> {
    const known = this.#recorded.get(hash);
    if (known !== undefined) return known;
    const recorded = audit.record(usedEvent(zone, userId)).catch((error: unknown) => {
      this.#recorded.delete(hash);
      throw error;
    });
    this.#recorded.set(hash, recorded);
    const [oldest] = this.#recorded.size > MOST ? this.#recorded.keys() : [];
    if (oldest !== undefined) this.#recorded.delete(oldest);
    return recorded;
  }
}

/** The audit event of a link that has made an owner. */
function usedEvent(zone: string, userId: string): AuditRecord {
  return {
    event: "bootstrap.used",
    riskLevel: "CRITICAL",
    resource: `zone:${zone}`,
    details: { owner: `user:${userId}` },
    mustBeStored: true,
  };
}
