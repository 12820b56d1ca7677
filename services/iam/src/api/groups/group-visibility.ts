import { type AuthorizationEngine, MAX_BULK_CHECKS } from "svc-access/authz";
import { ServiceError } from "svc-access/runtime";
import type { Caller } from "../../rights/caller-rights.ts";
import type { GroupRecords } from "./group-records.ts";

/** The most groups of one response that are looked at. */
const MOST = 20_000;
/** How many groups one query of the database reads. */
const AT_ONCE = 500;

/**
 * Decides which groups a caller may see that something else names: the groups of a user, and the group above another
 * one. Whoever may see users does not see their groups by that.
 */
export class GroupVisibility {
  readonly #engine: Pick<AuthorizationEngine, "check" | "checkBulk">;
  readonly #records: Pick<GroupRecords, "findAll"> | undefined;

  /** @param records undefined where the directory of a provider names groups, which are all of the organization */
  constructor(
    engine: Pick<AuthorizationEngine, "check" | "checkBulk">,
    records: Pick<GroupRecords, "findAll"> | undefined,
  ) {
    this.#engine = engine;
    this.#records = records;
  }

  /**
   * Those of groups that a caller may see: with `view_groups` on the zone all of the organization, otherwise each with
   * `view` on it. A user may be a member of groups of other zones, too.
   *
   * @param organizationId whose response names them
   * @throws ServiceError FAILED_PRECONDITION where they are too many; AuthzError
   */
  async among(
    { subjectType, subjectId }: Caller,
    organizationId: string,
    groupIds: Iterable<string>,
    signal: AbortSignal,
  ): Promise<ReadonlySet<string>> {
    const ids = [...new Set(groupIds)];
    if (ids.length === 0) return new Set();
    const subject = { type: subjectType, id: subjectId };
    const zone = { type: "zone", id: organizationId };
    const all = { resource: zone, permission: "view_groups", subject };
    const visible = (await this.#engine.check(all, { signal })).allowed
      ? await this.#ofOrganization(organizationId, ids)
      : new Set<string>();
    const others = ids.filter((id) => !visible.has(id));
    assertFew(others);
    for (let start = 0; start < others.length; start += MAX_BULK_CHECKS) {
      const some = others.slice(start, start + MAX_BULK_CHECKS);
      const checks = some.map((id) => {
        return { resource: { type: "group", id }, permission: "view", subject };
      });
      const { items } = await this.#engine.checkBulk(checks, { signal });
      for (const [index, { allowed, error }] of items.entries()) {
        if (error !== undefined) throw error;
        if (allowed) visible.add(some[index] as string);
      }
    }
    return visible;
  }

  async #ofOrganization(organizationId: string, ids: readonly string[]): Promise<Set<string>> {
    if (this.#records === undefined) return new Set(ids);
    // Before they are read: that is one query after another.
    assertFew(ids);
    const found = new Set<string>();
    for (let start = 0; start < ids.length; start += AT_ONCE) {
      const records = await this.#records.findAll(ids.slice(start, start + AT_ONCE));
      for (const [id, record] of records)
        if (record.organizationId === organizationId) found.add(id);
    }
    return found;
  }

  /**
   * Checks that a caller may see one group.
   *
   * @throws ServiceError FORBIDDEN, also for a group that does not exist; AuthzError
   */
  async assertSees(
    caller: Caller,
    organizationId: string,
    groupId: string,
    signal: AbortSignal,
  ): Promise<void> {
    if ((await this.among(caller, organizationId, [groupId], signal)).has(groupId)) return;
    throw new ServiceError("FORBIDDEN", "view on the group is required");
  }
}

function assertFew(ids: readonly string[]): void {
  if (ids.length <= MOST) return;
  throw new ServiceError(
    "FAILED_PRECONDITION",
    `the response names more than ${MOST} groups: use a smaller page_size`,
  );
}
