import type { AuthorizationEngine } from "svc-access/authz";
import { type Principal, ServiceError } from "svc-access/runtime";
import type { GroupRecords } from "./group-records.ts";

/** A place in the tree of an organization. */
export interface GroupPlace {
  readonly organizationId: string;
  /** The group above; empty at the top. */
  readonly parentId: string;
}

/** Decides who may put a group at a place. */
export class PlaceRights {
  readonly #engine: Pick<AuthorizationEngine, "check">;
  readonly #records: Pick<GroupRecords, "find">;

  constructor(engine: Pick<AuthorizationEngine, "check">, records: Pick<GroupRecords, "find">) {
    this.#engine = engine;
    this.#records = records;
  }

  /**
   * Checks that a caller holds `create_groups` on the zone, or `create_child_groups` on the group above,
   * which must be of the same organization.
   *
   * @throws ServiceError FORBIDDEN, also for a group that does not exist; INVALID_ARGUMENT for one of
   * another organization
   */
  async assertMayPlace(
    { subjectType, subjectId }: Pick<Principal, "subjectType" | "subjectId">,
    { organizationId, parentId }: GroupPlace,
    signal: AbortSignal,
  ): Promise<void> {
    const subject = { type: subjectType, id: subjectId };
    const request =
      parentId === ""
        ? { resource: { type: "zone", id: organizationId }, permission: "create_groups", subject }
        : { resource: { type: "group", id: parentId }, permission: "create_child_groups", subject };
    if (!(await this.#engine.check(request, { signal, newest: true })).allowed) {
      throw new ServiceError(
        "FORBIDDEN",
        parentId === ""
          ? "create_groups on the zone is required"
          : "create_child_groups on the group above is required",
      );
    }
    if (parentId === "") return;
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
  }
}
