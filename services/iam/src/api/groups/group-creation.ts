import { randomUUID } from "node:crypto";
import {
  type AuthorizationEngine,
  AuthzError,
  type Precondition,
  type RelationshipUpdate,
} from "svc-access/authz";
import { ServiceError } from "svc-access/runtime";
import { isOperator } from "../../ground/operator/operator.ts";
import type { Caller } from "../../rights/caller-rights.ts";
import { unique } from "../../rights/decided-path.ts";
import type { GroupRecord, GroupRecords } from "./group-records.ts";
import {
  type Ancestry,
  type GroupTree,
  MAX_DEPTH,
  mustExist,
  parentOf,
  tooDeep,
  zoneOf,
} from "./group-tree.ts";
import type { PlaceRights } from "./place-rights.ts";

/** A group that is to be made. */
export interface NewGroup {
  readonly organizationId: string;
  /** The group above; empty at the top. */
  readonly parentId: string;
  /** One that is valid. */
  readonly displayName: string;
}

/** What making groups needs. */
export interface GroupCreationOptions {
  readonly engine: AuthorizationEngine;
  readonly records: GroupRecords;
  readonly tree: GroupTree;
  readonly rights: PlaceRights;
}

/**
 * Makes groups. The record comes first, and nobody sees it before its relationships are stored: its
 * zone, the group above it, and its first owner, in one write. If the process ends between the two,
 * the job completes or discards the group.
 */
export class GroupCreation {
  readonly #options: GroupCreationOptions;

  constructor(options: GroupCreationOptions) {
    this.#options = options;
  }

  /**
   * Makes a group, of which the caller is the first owner. With the id of a call that was cut off, it
   * continues what that one has begun.
   *
   * @throws ServiceError FORBIDDEN, RESOURCE_NOT_FOUND, or FAILED_PRECONDITION where the place is too
   * deep or is changed meanwhile; AuthzError or DatabaseError, after which it may exist
   */
  async create(
    caller: Caller,
    group: NewGroup,
    signal: AbortSignal,
    id: string = randomUUID(),
  ): Promise<GroupRecord> {
    const { records, tree, rights } = this.#options;
    const { organizationId, parentId, displayName } = group;
    await rights.assertMayPlace(caller, group, signal);
    const above = parentId === "" ? undefined : await tree.ancestry(parentId, signal);
    if (above !== undefined && above.ids.length >= MAX_DEPTH) throw tooDeep();
    const begun = await records.begin(id, organizationId, displayName);
    if (begun === "no_organization") {
      throw new ServiceError("RESOURCE_NOT_FOUND", "the organization does not exist");
    }
    if (begun === "deleted") {
      throw new ServiceError(
        "FAILED_PRECONDITION",
        "the group was made by an earlier call, and is deleted: create another one with another key",
      );
    }
    const made = relationshipsOf(id, group, caller);
    if (begun !== "ready") {
      const place = above === undefined ? [] : placeOf(group, above);
      const decide = async () =>
        unique([...place, ...(await rights.assertMayPlace(caller, group, signal))]);
      await this.#write({ id, organizationId }, made, decide, signal);
    }
    // The job completes it, too.
    await records.advance(id, ["creating"], "ready");
    const record = await records.find(id);
    if (record !== undefined) return record;
    // It was so slow that the job has discarded the record.
    const updates = made.map((update) => ({ ...update, operation: "DELETE" }) as const);
    await this.#options.engine.writeRelationships({ updates });
    throw new ServiceError("UNAVAILABLE", "the group could not be stored in time: try again");
  }

  async #write(
    { id, organizationId }: Pick<GroupRecord, "id" | "organizationId">,
    updates: readonly RelationshipUpdate[],
    decide: () => Promise<readonly Precondition[]>,
    signal: AbortSignal,
  ): Promise<void> {
    const { engine, records, tree } = this.#options;
    try {
      const preconditions = await decide();
      await engine.writeRelationships({ updates, preconditions }, { signal });
    } catch (error) {
      // Otherwise it may have happened.
      if (!isRefusal(error)) throw error;
      // An earlier call with this id may have written it without learning of that.
      if (await tree.isIn(id, organizationId, signal)) return;
      await records.discard(id);
      if (error instanceof ServiceError) throw error;
      throw new ServiceError(
        "FAILED_PRECONDITION",
        "the groups above were moved or deleted, or the right to create the group was changed, meanwhile: try again",
        { cause: error },
      );
    }
  }
}

/** Whether a decision or a write was refused, and not cut off. */
function isRefusal(error: unknown): boolean {
  if (error instanceof AuthzError) return error.code === "FAILED_PRECONDITION";
  return error instanceof ServiceError && error.status < 500;
}

/** That the group above is still where it was. */
function placeOf(
  { organizationId, parentId }: NewGroup,
  { preconditions }: Ancestry,
): readonly Precondition[] {
  return [...preconditions, mustExist(zoneOf(parentId, organizationId))];
}

function relationshipsOf(
  id: string,
  { organizationId, parentId }: NewGroup,
  caller: Caller,
): readonly RelationshipUpdate[] {
  const { subjectType, subjectId } = caller;
  const owner = {
    resource: { type: "group", id },
    relation: "owner",
    subject: { type: subjectType, id: subjectId },
  };
  const relationships = [
    zoneOf(id, organizationId),
    ...(parentId === "" ? [] : [parentOf(id, parentId)]),
    // The operator is not a subject of the model: those above the group own it.
    ...(isOperator(caller) ? [] : [owner]),
  ];
  return relationships.map((relationship) => ({ operation: "TOUCH", relationship }));
}
