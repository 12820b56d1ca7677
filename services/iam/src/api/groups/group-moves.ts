import {
  type AuthorizationEngine,
  AuthzError,
  type Precondition,
  type RelationshipUpdate,
} from "svc-access/authz";
import { type Principal, ServiceError } from "svc-access/runtime";
import { unique } from "../../rights/decided-path.ts";
import type { LastOwner } from "../../rights/last-owner.ts";
import type { GroupRecord } from "./group-records.ts";
import {
  type Ancestry,
  type GroupTree,
  MAX_DEPTH,
  mustExist,
  parentOf,
  tooDeep,
  zoneOf,
} from "./group-tree.ts";
import type { MoveRights } from "./move-rights.ts";
import type { PlaceRights } from "./place-rights.ts";

/** What moves of groups need. */
export interface GroupMovesOptions {
  readonly engine: AuthorizationEngine;
  readonly tree: GroupTree;
  readonly places: PlaceRights;
  readonly rights: MoveRights;
  readonly lastOwner: Pick<LastOwner, "guard">;
}

/**
 * Moves groups in the tree of their organization. The write of a move holds only if both places are
 * still as they were read, so of two moves that would make a cycle together one is refused.
 */
export class GroupMoves {
  readonly #options: GroupMovesOptions;

  constructor(options: GroupMovesOptions) {
    this.#options = options;
  }

  /**
   * Moves a group.
   *
   * @param parentId the group that is to be above it; empty: it is to be at the top
   * @returns the id of the group that was above it; empty if it was at the top
   * @throws ServiceError FORBIDDEN, INVALID_ARGUMENT, RESOURCE_NOT_FOUND or FAILED_PRECONDITION
   */
  async move(
    caller: Pick<Principal, "subjectType" | "subjectId">,
    { id, organizationId }: Pick<GroupRecord, "id" | "organizationId">,
    parentId: string,
    signal: AbortSignal,
  ): Promise<string> {
    const { tree, places, rights, lastOwner } = this.#options;
    await places.assertMayPlace(caller, { organizationId, parentId }, signal);
    const old = await tree.ancestry(id, signal);
    const former = old.ids[1] ?? "";
    if (former === parentId) return former;
    const next = parentId === "" ? NOWHERE : await tree.ancestry(parentId, signal);
    if (next.ids.includes(id)) {
      throw new ServiceError("FAILED_PRECONDITION", "the group would be below itself");
    }
    await this.#assertDepth(id, { old, next }, signal);
    const above = old.ids.slice(1);
    const moved = { id, organizationId, above, newAbove: next.ids };
    const held = [id, ...next.ids].map((group) => ({ type: "group", id: group }));
    const updates = [
      ...(former === "" ? [] : [deletion(id, former)]),
      ...(parentId === "" ? [] : [creation(id, parentId)]),
    ];
    const decide = async () => [
      ...(await places.assertManages(caller, id, signal)),
      ...(await places.assertMayPlace(caller, { organizationId, parentId }, signal)),
      ...(await rights.assertMayHandDown(caller, moved, signal)),
    ];
    // Who may not move it makes nobody wait.
    await decide();
    // Nobody gets power over the new place between the look at it and the write.
    await lastOwner.guard({ held }, signal, async (_, effect) => {
      // Others may have moved below it before this call had its turn.
      await this.#assertDepth(id, { old, next }, signal);
      const preconditions = unique([
        mustExist(zoneOf(id, organizationId)),
        ...(parentId === "" ? [] : [mustExist(zoneOf(parentId, organizationId))]),
        ...old.preconditions,
        ...next.preconditions,
        ...(await decide()),
      ]);
      await effect(() => this.#write(updates, preconditions));
    });
    return former;
  }

  async #assertDepth(
    id: string,
    { old, next }: { readonly old: Ancestry; readonly next: Ancestry },
    signal: AbortSignal,
  ): Promise<void> {
    // The groups below come with it: they are as many levels as before.
    if (next.ids.length < old.ids.length) return;
    const most = MAX_DEPTH - next.ids.length;
    if (most < 1) throw tooDeep();
    await this.#options.tree.height(id, most, signal);
  }

  async #write(
    updates: readonly RelationshipUpdate[],
    preconditions: readonly Precondition[],
  ): Promise<void> {
    try {
      await this.#options.engine.writeRelationships({ updates, preconditions });
    } catch (error) {
      if (!(error instanceof AuthzError) || error.code !== "FAILED_PRECONDITION") throw error;
      throw new ServiceError(
        "FAILED_PRECONDITION",
        "the groups were moved, deleted or granted meanwhile: read them again, and repeat the move",
        { cause: error },
      );
    }
  }
}

/** The top of a tree has nothing above it. */
const NOWHERE: Ancestry = { ids: [], preconditions: [] };

function deletion(id: string, parent: string): RelationshipUpdate {
  return { operation: "DELETE", relationship: parentOf(id, parent) };
}

function creation(id: string, parent: string): RelationshipUpdate {
  return { operation: "CREATE", relationship: parentOf(id, parent) };
}
