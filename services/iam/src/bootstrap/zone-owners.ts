import { type AuthorizationEngine, AuthzError, type RelationshipUpdate } from "svc-access/authz";

/**
 * The owners of zones, as the authorization engine has them. All is read in its newest state, since what is decided
 * on follows from what another process may have written a moment before.
 */
export class ZoneOwners {
  readonly #engine: AuthorizationEngine;

  constructor(engine: AuthorizationEngine) {
    this.#engine = engine;
  }

  /** Whether anybody owns a zone; with a user: whether that user does. */
  async hasOwner(zone: string, signal: AbortSignal, userId?: string): Promise<boolean> {
    const subject = userId === undefined ? {} : { subject: { type: "user", id: userId } };
    const filter = { ...ownersOf(zone), ...subject };
    const options = { signal, newest: true };
    const { items } = await this.#engine.readRelationships(filter, { pageSize: 1 }, options);
    return items.length > 0;
  }

  /**
   * Makes a user the owner of a zone that has none. Of several at once, one becomes the owner.
   *
   * @param mark written together with the owner: whoever finds it knows what has made this owner
   * @returns false if it has an owner
   */
  async makeFirstOwner(
    zone: string,
    userId: string,
    signal: AbortSignal,
    mark?: string,
  ): Promise<boolean> {
    const updates = [update("TOUCH", zone, userId)];
    if (mark !== undefined) updates.push(update("TOUCH", zoneOf(mark), userId));
    try {
      await this.#engine.writeRelationships(
        { updates, preconditions: [{ kind: "MUST_NOT_MATCH", filter: ownersOf(zone) }] },
        { signal },
      );
      return true;
    } catch (error) {
      if (error instanceof AuthzError && error.code === "FAILED_PRECONDITION") return false;
      throw error;
    }
  }

  /** Whether a user was made an owner with this mark, which was not removed. */
  hasMark(mark: string, userId: string, signal: AbortSignal): Promise<boolean> {
    return this.hasOwner(zoneOf(mark), signal, userId);
  }

  /** Removes the mark of an owner. */
  async removeMark(mark: string, userId: string, signal: AbortSignal): Promise<void> {
    const updates = [update("DELETE", zoneOf(mark), userId)];
    await this.#engine.writeRelationships({ updates }, { signal });
  }
}

/** The filter of the owners of a zone. */
export function ownersOf(zone: string) {
  return { resourceType: "zone", resourceId: zone, relation: "owner" };
}

/** A zone that there is not: ids of organizations have no slash. */
function zoneOf(mark: string): string {
  return `bootstrap-link/${mark}`;
}

function update(operation: "TOUCH" | "DELETE", zone: string, userId: string): RelationshipUpdate {
  const subject = { type: "user", id: userId };
  return {
    operation,
    relationship: { resource: { type: "zone", id: zone }, relation: "owner", subject },
  };
}
