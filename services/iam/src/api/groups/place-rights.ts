import type { AuthorizationEngine, Precondition } from "svc-access/authz";
import { type Principal, ServiceError } from "svc-access/runtime";
import { decidePath } from "../../rights/decided-path.ts";
import { RightsModel } from "../../rights/rights-model.ts";
import type { GroupRecords } from "./group-records.ts";

/** A place in the tree of an organization. */
export interface GroupPlace {
  readonly organizationId: string;
  /** The group above; empty at the top. */
  readonly parentId: string;
}

/** Decides who may put a group at a place, and take it away. */
export class PlaceRights {
  readonly #engine: AuthorizationEngine;
  readonly #model: RightsModel;
  readonly #records: Pick<GroupRecords, "find">;

  constructor(engine: AuthorizationEngine, records: Pick<GroupRecords, "find">) {
    this.#engine = engine;
    this.#model = new RightsModel(engine.model);
    this.#records = records;
  }

  /**
   * Checks that a caller still holds `manage` on a group: a call may have waited for long, and the policy of the RPC does
   * not know what was revoked at another replica a moment ago.
   *
   * @returns what must be a part of the write: it keeps what was decided on
   * @throws ServiceError FORBIDDEN
   */
  async assertManages(
    { subjectType, subjectId }: Pick<Principal, "subjectType" | "subjectId">,
    groupId: string,
    signal: AbortSignal,
  ): Promise<readonly Precondition[]> {
    const resource = { type: "group", id: groupId };
    const subject = { type: subjectType, id: subjectId };
    const request = { resource, permission: "manage", subject };
    const options = { signal, newest: true };
    const decided = await decidePath(this.#engine, this.#model, request, options);
    if (decided.allowed) return decided.preconditions;
    throw new ServiceError("FORBIDDEN", "manage on the group is required");
  }

  /**
   * Checks that a caller holds `create_groups` on the zone, or `create_child_groups` on the group above,
   * which must be of the same organization.
   *
   * @returns what must be a part of the write: it keeps what was decided on
   * @throws ServiceError FORBIDDEN, also for a group that does not exist; INVALID_ARGUMENT for one of
   * another organization
   */
  async assertMayPlace(
    { subjectType, subjectId }: Pick<Principal, "subjectType" | "subjectId">,
    { organizationId, parentId }: GroupPlace,
    signal: AbortSignal,
  ): Promise<readonly Precondition[]> {
    const subject = { type: subjectType, id: subjectId };
    const request =
      parentId === ""
        ? { resource: { type: "zone", id: organizationId }, permission: "create_groups", subject }
        : { resource: { type: "group", id: parentId }, permission: "create_child_groups", subject };
    const options = { signal, newest: true };
    const decided = await decidePath(this.#engine, this.#model, request, options);
    if (!decided.allowed) {
      throw new ServiceError(
        "FORBIDDEN",
        parentId === ""
          ? "create_groups on the zone is required"
          : "create_child_groups on the group above is required",
      );
    }
    if (parentId === "") return decided.preconditions;
    const parent = await this.#records.find(parentId);
    if (parent === undefined) {
      throw new ServiceError("RESOURCE_NOT_FOUND", "the group above does not exist");
    }
    if (parent.organizationId !== organizationId) {
      throw new ServiceError(
        "INVALID_ARGUMENT",
        "parent_id is a group of another organization: groups stay within one",
      );
    }
    return decided.preconditions;
  }
}
