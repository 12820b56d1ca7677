import type { AuthorizationEngine, SubjectReference } from "svc-access/authz";
import { type Principal, ServiceError } from "svc-access/runtime";
import { againAfterWrites } from "../../rights/again-after-writes.ts";
import type { GroupRecord, GroupRecords } from "./group-records.ts";

/** The most groups that are found for somebody without `view_groups` on the zone. */
const MOST = 10_000;
/** How many groups one query of the database reads. */
const AT_ONCE = 500;

/** Finds the groups that somebody may see. */
export class VisibleGroups {
  readonly #engine: AuthorizationEngine;
  readonly #records: GroupRecords;

  constructor(engine: AuthorizationEngine, records: GroupRecords) {
    this.#engine = engine;
    this.#records = records;
  }

  /**
   * The groups of an organization on which a caller holds `view`, by id.
   *
   * @param after the id after which they begin; empty: the first
   * @throws ServiceError FAILED_PRECONDITION where they are too many
   */
  async list(
    { subjectType, subjectId }: Pick<Principal, "subjectType" | "subjectId">,
    organizationId: string,
    { after, limit }: { readonly after: string; readonly limit: number },
    signal: AbortSignal,
  ): Promise<readonly GroupRecord[]> {
    const subject = { type: subjectType, id: subjectId };
    const resource = { type: "zone", id: organizationId };
    const request = { resource, permission: "view_groups", subject };
    const { allowed } = await this.#engine.check(request, { signal });
    if (allowed) return this.#records.list(organizationId, after, limit);
    const ids = await againAfterWrites(() => this.#lookUp(subject, signal));
    const found: GroupRecord[] = [];
    const left = ids.filter((id) => id > after).sort();
    for (let start = 0; start < left.length && found.length < limit; start += AT_ONCE) {
      const part = left.slice(start, start + AT_ONCE);
      const records = await this.#records.findAll(part);
      for (const id of part) {
        const record = records.get(id);
        if (record?.organizationId === organizationId) found.push(record);
      }
    }
    return found.slice(0, limit);
  }

  async #lookUp(subject: SubjectReference, signal: AbortSignal): Promise<readonly string[]> {
    const ids: string[] = [];
    let cursor: string | undefined;
    do {
      const page = cursor === undefined ? {} : { cursor };
      const request = { resourceType: "group", permission: "view", subject, ...page };
      const { items, nextCursor } = await this.#engine.lookupResources(request, { signal });
      ids.push(...items);
      if (ids.length > MOST) {
        throw new ServiceError(
          "FAILED_PRECONDITION",
          `the caller may see more than ${MOST} groups: ask for view_groups on the zone`,
        );
      }
      cursor = nextCursor;
    } while (cursor !== undefined);
    return ids;
  }
}
