import {
  type AuthorizationEngine,
  AuthzError,
  MAX_UPDATES,
  type Relationship,
  type RelationshipFilter,
  type RelationshipUpdate,
  type WriteRequest,
} from "svc-access/authz";
import { type Principal, ServiceError } from "svc-access/runtime";
import { unique } from "../../rights/decided-path.ts";
import type { LastOwner } from "../../rights/last-owner.ts";
import type { RelationshipRules } from "../../rights/relationship-rules.ts";
import type { GroupRecord, GroupRecords } from "./group-records.ts";
import { childrenFilter, type GroupTree, mustExist, zoneOf } from "./group-tree.ts";
import type { PlaceRights } from "./place-rights.ts";

/** What deletion of groups needs. */
export interface GroupDeletionOptions {
  readonly engine: AuthorizationEngine;
  readonly records: GroupRecords;
  readonly tree: GroupTree;
  readonly places: Pick<PlaceRights, "assertManages">;
  readonly rules: Pick<RelationshipRules, "assertMayEmpty">;
  readonly lastOwner: Pick<LastOwner, "guard">;
}

/** The relations of a group by which somebody writes its relationships, with its place. */
const OWN = ["zone", "parent", "owner", "manager", "permission_admin"] as const;
/** What the engine refuses a write with; after other errors it may have happened. */
const REFUSALS: ReadonlySet<string> = new Set(["FAILED_PRECONDITION", "INVALID_ARGUMENT"]);
/** How many relationships of each kind the first write of a deletion removes at most, besides members. */
const MOST = 400;

/**
 * Deletes groups. The record is marked first, so nobody sees the group. Then one write removes its
 * place, everybody's power over it, what its members hold as owners, administrators and members of
 * other groups, and as many members as fit: it decides the deletion, and the group is nobody's. The
 * recorded removal then takes away the rest, and the record goes last.
 */
export class GroupDeletion {
  readonly #options: GroupDeletionOptions;

  constructor(options: GroupDeletionOptions) {
    this.#options = options;
  }

  /**
   * Deletes a group without groups below it.
   *
   * @throws ServiceError FORBIDDEN, RESOURCE_NOT_FOUND or FAILED_PRECONDITION; AuthzError or
   * DatabaseError, after which the job decides whether it is deleted
   */
  async delete(
    caller: Pick<Principal, "subjectType" | "subjectId">,
    { id, organizationId }: GroupRecord,
    signal: AbortSignal,
  ): Promise<void> {
    const { records, tree, places, rules, lastOwner } = this.#options;
    if (await tree.hasChildren(id, signal)) throw hasChildren();
    const group = { type: "group", id };
    const decide = async () => {
      const held = await this.#held(id, signal);
      const revoked = deletions(held.filter(isPower));
      const preconditions = [
        ...(await places.assertManages(caller, id, signal)),
        ...(await rules.assertMayEmpty(caller, group, revoked, signal)).preconditions,
      ];
      return { held, preconditions };
    };
    // Who may not delete it does not learn who owns a zone, and makes nobody wait.
    await decide();
    await lastOwner.guard({ leaving: [group] }, signal, async (kept, effect) => {
      // It may have waited for long: a right that was lost meanwhile does not count, and one that the group got does.
      const { held, preconditions: allowed } = await decide();
      const own = await this.#own(id, signal);
      const members = await this.#someMembers(id, MAX_UPDATES - own.length - held.length, signal);
      const updates = deletions([...own, ...held, ...members]);
      const preconditions = unique([
        mustExist(zoneOf(id, organizationId)),
        { kind: "MUST_NOT_MATCH", filter: childrenFilter(id) },
        ...allowed,
        ...kept,
      ]);
      await effect(async () => {
        if (!(await records.advance(id, ["ready"], "deleting"))) throw notFound();
        await this.#write(id, { updates, preconditions }, signal);
      });
    });
    await records.beginRemoval(id);
  }

  /** The group stays if the write is refused. After other errors it may have happened, and the job finds out. */
  async #write(id: string, request: WriteRequest, signal: AbortSignal): Promise<void> {
    const { engine, records, tree } = this.#options;
    try {
      await engine.writeRelationships(request);
    } catch (error) {
      if (!(error instanceof AuthzError) || !REFUSALS.has(error.code)) throw error;
      await records.advance(id, ["deleting"], "ready");
      if (error.code !== "FAILED_PRECONDITION") throw error;
      if (await tree.hasChildren(id, signal)) throw hasChildren();
      throw new ServiceError(
        "FAILED_PRECONDITION",
        "the group, or what it was granted, was changed meanwhile: repeat the deletion",
        { cause: error },
      );
    }
  }

  /** Its place, and who has power over it. */
  async #own(id: string, signal: AbortSignal): Promise<readonly Relationship[]> {
    const found = await Promise.all(
      OWN.map((relation) =>
        this.#read({ resourceType: "group", resourceId: id, relation }, signal),
      ),
    );
    return atMost(found.flat());
  }

  /** What its members hold as owners and administrators, of zones, and as members of other groups. */
  async #held(id: string, signal: AbortSignal): Promise<readonly Relationship[]> {
    const subject = { type: "group", id, relation: "member" };
    const found = await Promise.all([
      this.#read({ relation: "owner", subject }, signal),
      this.#read({ relation: "admin", subject }, signal),
      this.#read({ resourceType: "zone", subject }, signal),
      this.#read({ resourceType: "group", subject }, signal),
    ]);
    const all = found.flat();
    return atMost([...new Map(all.map((one) => [JSON.stringify(one), one])).values()]);
  }

  /** Without its members, the group gives nobody anything. */
  async #someMembers(
    id: string,
    most: number,
    signal: AbortSignal,
  ): Promise<readonly Relationship[]> {
    const filter = { resourceType: "group", resourceId: id, relation: "member" };
    const options = { signal, newest: true };
    const page = await this.#options.engine.readRelationships(filter, { pageSize: most }, options);
    return page.items;
  }

  async #read(filter: RelationshipFilter, signal: AbortSignal): Promise<readonly Relationship[]> {
    const found: Relationship[] = [];
    let cursor: string | undefined;
    do {
      const page = cursor === undefined ? {} : { cursor };
      const read = await this.#options.engine.readRelationships(filter, page, {
        signal,
        newest: true,
      });
      found.push(...read.items);
      atMost(found);
      cursor = read.nextCursor;
    } while (cursor !== undefined);
    return found;
  }
}

function deletions(relationships: readonly Relationship[]): readonly RelationshipUpdate[] {
  return relationships.map((relationship) => ({ operation: "DELETE", relationship }));
}

function atMost(relationships: readonly Relationship[]): readonly Relationship[] {
  if (relationships.length <= MOST) return relationships;
  throw new ServiceError(
    "FAILED_PRECONDITION",
    `the group has, or was granted, more than ${MOST} relations of owners and administrators: remove some of them first`,
  );
}

/** What is granted only by those who hold as much, and what protects the accounts of its members. */
function isPower({ resource, relation }: Relationship): boolean {
  return relation === "owner" || relation === "admin" || resource.type === "zone";
}

function hasChildren(): ServiceError {
  return new ServiceError(
    "FAILED_PRECONDITION",
    "there are groups below the group: move or delete them first",
  );
}

function notFound(): ServiceError {
  return new ServiceError("RESOURCE_NOT_FOUND", "the group does not exist");
}
