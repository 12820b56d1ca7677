import { type AuthorizationEngine, AuthzError } from "svc-access/authz";
import type { AuditRecord } from "svc-access/runtime";

/** The owners of zones, as the authorization engine has them. */
export class ZoneOwners {
  readonly #engine: AuthorizationEngine;

  constructor(engine: AuthorizationEngine) {
    this.#engine = engine;
  }

  /** Whether anybody owns a zone; with a user: whether that user does. */
  async hasOwner(zone: string, signal: AbortSignal, userId?: string): Promise<boolean> {
    const subject = userId === undefined ? {} : { subject: { type: "user", id: userId } };
    const filter = { ...ownersOf(zone), ...subject };
    const { items } = await this.#engine.readRelationships(filter, { pageSize: 1 }, { signal });
    return items.length > 0;
  }

  /**
   * Makes a user the owner of a zone that has none. Of several at once, one becomes the owner.
   *
   * @returns false if it has an owner
   */
  async makeFirstOwner(zone: string, userId: string, signal: AbortSignal): Promise<boolean> {
    const relationship = {
      resource: { type: "zone", id: zone },
      relation: "owner",
      subject: { type: "user", id: userId },
    };
    try {
      await this.#engine.writeRelationships(
        {
          updates: [{ operation: "TOUCH", relationship }],
          preconditions: [{ kind: "MUST_NOT_MATCH", filter: ownersOf(zone) }],
        },
        { signal },
      );
      return true;
    } catch (error) {
      if (error instanceof AuthzError && error.code === "FAILED_PRECONDITION") return false;
      throw error;
    }
  }
}

/** The audit event of a link that has made an owner. */
export function usedEvent(zone: string, userId: string): AuditRecord {
  return {
    event: "bootstrap.used",
    riskLevel: "CRITICAL",
    resource: `zone:${zone}`,
    details: { owner: `user:${userId}` },
  };
}

/** The filter of the owners of a zone. */
export function ownersOf(zone: string) {
  return { resourceType: "zone", resourceId: zone, relation: "owner" };
}
