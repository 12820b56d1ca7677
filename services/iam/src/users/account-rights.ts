import type { AuthorizationEngine, ObjectReference } from "svc-access/authz";
import { type Principal, ServiceError } from "svc-access/runtime";

/** The relations of a zone, as `model/iam.zed` has them. */
export const ZONE_RELATIONS = [
  "owner",
  "admin",
  "user_viewer",
  "user_manager",
  "group_viewer",
  "group_manager",
  "permission_admin",
] as const;

/** The most zones of one relation that are compared. */
const MOST = 1000;

/** Whom it is decided for. */
type Caller = Pick<Principal, "subjectType" | "subjectId">;

/** A relation to a zone. */
interface ZoneRelation {
  readonly zone: string;
  readonly relation: (typeof ZONE_RELATIONS)[number];
}

/**
 * Decides who may take over an account or interrupt it: `manage_users` is not enough for an account that
 * may do more than the caller.
 */
export class AccountRights {
  readonly #engine: AuthorizationEngine;
  readonly #organization: string;

  /** @param organization whose zone the accounts belong to */
  constructor(engine: AuthorizationEngine, organization: string) {
    this.#engine = engine;
    this.#organization = organization;
  }

  /**
   * Checks that a caller is an owner of the organization's zone, or holds every relation to any zone
   * that the account holds, also through groups. An owner of a zone has all of that zone.
   *
   * @param account a user or a service account
   * @throws ServiceError FORBIDDEN if not; it does not say what the account holds
   */
  async assertCovers(caller: Caller, account: ObjectReference, signal: AbortSignal): Promise<void> {
    const { subjectType, subjectId } = caller;
    if (subjectType === account.type && subjectId === account.id) return;
    const own = { zone: this.#organization, relation: "owner" } as const;
    const [isOwner] = await this.#holds(caller, [own], signal);
    if (isOwner) return;
    const held = await this.#zoneRelations(account, signal);
    const wanted = held.flatMap(({ zone, relation }) => [
      { zone, relation },
      { zone, relation: "owner" as const },
    ]);
    const holds = await this.#holds(caller, wanted, signal);
    if (held.every((_, index) => holds[2 * index] || holds[2 * index + 1])) return;
    throw new ServiceError(
      "FORBIDDEN",
      "the account holds relations to a zone that the caller does not hold",
    );
  }

  async #zoneRelations(account: ObjectReference, signal: AbortSignal): Promise<ZoneRelation[]> {
    const found = await Promise.all(
      ZONE_RELATIONS.map(async (relation) => {
        const zones = await this.#zonesOf(account, relation, signal);
        return zones.map((zone) => ({ zone, relation }));
      }),
    );
    return found.flat();
  }

  async #zonesOf(
    subject: ObjectReference,
    permission: string,
    signal: AbortSignal,
  ): Promise<string[]> {
    const zones: string[] = [];
    let cursor: string | undefined;
    do {
      const page = { resourceType: "zone", permission, subject, ...(cursor && { cursor }) };
      const { items, nextCursor } = await this.#engine.lookupResources(page, {
        signal,
        newest: true,
      });
      zones.push(...items);
      if (zones.length > MOST)
        throw new ServiceError("FORBIDDEN", "the account holds too many zones");
      cursor = nextCursor;
    } while (cursor !== undefined);
    return zones;
  }

  async #holds(
    { subjectType, subjectId }: Caller,
    relations: readonly ZoneRelation[],
    signal: AbortSignal,
  ): Promise<boolean[]> {
    if (relations.length === 0) return [];
    const subject = { type: subjectType, id: subjectId };
    const requests = relations.map(({ zone, relation }) => ({
      resource: { type: "zone", id: zone },
      permission: relation,
      subject,
    }));
    const allowed: boolean[] = [];
    for (let start = 0; start < requests.length; start += MOST) {
      const part = requests.slice(start, start + MOST);
      const { items } = await this.#engine.checkBulk(part, { signal, newest: true });
      for (const item of items) {
        if (item.error !== undefined) throw item.error;
        allowed.push(item.allowed);
      }
    }
    return allowed;
  }
}
