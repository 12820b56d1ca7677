import type { AuthorizationEngine, ObjectReference } from "svc-access/authz";
import { ServiceError } from "svc-access/runtime";
import type { Caller } from "../../rights/caller-rights.ts";
import { EngineReads } from "../../rights/engine-reads.ts";

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

/** A relation to a zone. */
interface ZoneRelation {
  readonly zone: string;
  readonly relation: (typeof ZONE_RELATIONS)[number];
}

/** What is asked about a caller: a relation, or a permission. */
interface ZoneQuestion {
  readonly zone: string;
  readonly relation: ZoneRelation["relation"] | "manage_users";
}

/**
 * Decides who may take over an account or interrupt it: `manage_users` is not enough for an account that
 * may do more than the caller. What was just granted or revoked counts, also at another replica.
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
   * Checks that a caller is an owner of the organization's zone, also by groups.
   *
   * @throws ServiceError FORBIDDEN if not
   */
  async assertOwner(caller: Caller, signal: AbortSignal): Promise<void> {
    const reads = new EngineReads(this.#engine, { signal });
    const own = { zone: this.#organization, relation: "owner" } as const;
    const [isOwner] = await holds(reads, caller, [own]);
    if (isOwner === true) return;
    throw new ServiceError("FORBIDDEN", "only an owner of the organization's zone may do this");
  }

  /**
   * Checks that a caller still holds `manage_users`, as the policy of the RPC has asked: the call may have waited, and
   * the policy does not know what was revoked at another replica a moment ago.
   *
   * @throws ServiceError FORBIDDEN if not
   */
  async assertManages(caller: Caller, signal: AbortSignal): Promise<void> {
    const reads = new EngineReads(this.#engine, { signal });
    const manages = { zone: this.#organization, relation: "manage_users" } as const;
    if (!(await holds(reads, caller, [manages]))[0]) throw managesNot();
  }

  /**
   * Checks that a caller holds `manage_users`, and is an owner of the organization's zone, or holds every relation to
   * any zone that the account holds, also through groups. An owner of a zone has all of that zone.
   *
   * @param account a user or a service account
   * @throws ServiceError FORBIDDEN if not; it does not say what the account holds
   */
  async assertCovers(caller: Caller, account: ObjectReference, signal: AbortSignal): Promise<void> {
    const { subjectType, subjectId } = caller;
    const reads = new EngineReads(this.#engine, { signal });
    const zone = this.#organization;
    const [manages, isOwner] = await holds(reads, caller, [
      { zone, relation: "manage_users" },
      { zone, relation: "owner" },
    ]);
    if (!manages) throw managesNot();
    if (isOwner || (subjectType === account.type && subjectId === account.id)) return;
    const held = await zoneRelations(reads, account);
    const wanted = held.flatMap(({ zone, relation }) => [
      { zone, relation },
      { zone, relation: "owner" as const },
    ]);
    const has = await holds(reads, caller, wanted);
    if (held.every((_, index) => has[2 * index] || has[2 * index + 1])) return;
    throw new ServiceError(
      "FORBIDDEN",
      "the account holds relations to a zone that the caller does not hold",
    );
  }
}

function managesNot(): ServiceError {
  return new ServiceError("FORBIDDEN", "the caller may not manage users");
}

async function zoneRelations(
  reads: EngineReads,
  account: ObjectReference,
): Promise<readonly ZoneRelation[]> {
  const found = await Promise.all(
    ZONE_RELATIONS.map(async (relation) => {
      const zones = await reads.objectsOf("zone", relation, account, MOST);
      if (zones.length > MOST) {
        throw new ServiceError("FORBIDDEN", "the account holds too many zones");
      }
      return zones.map(({ id }) => ({ zone: id, relation }));
    }),
  );
  return found.flat();
}

async function holds(
  reads: EngineReads,
  { subjectType, subjectId }: Caller,
  relations: readonly ZoneQuestion[],
): Promise<readonly boolean[]> {
  const subject = { type: subjectType, id: subjectId };
  const requests = relations.map(({ zone, relation }) => ({
    resource: { type: "zone", id: zone },
    permission: relation,
    subject,
  }));
  const allowed: boolean[] = [];
  for (let start = 0; start < requests.length; start += MOST) {
    allowed.push(...(await reads.checkAll(requests.slice(start, start + MOST))));
  }
  return allowed;
}
