import {
  type AuthorizationEngine,
  AuthzError,
  MAX_UPDATES,
  type Relationship,
  type RelationshipFilter,
  type RelationshipUpdate,
} from "svc-access/authz";
import { type Principal, ServiceError } from "svc-access/runtime";
import type { ZoneKeeper } from "./group-members.ts";
import type { GroupRecord, GroupRecords } from "./group-records.ts";
import { childrenFilter, type GroupTree, mustExist, zoneOf } from "./group-tree.ts";
import type { WriteRules } from "./move-rights.ts";

/** What deletion of groups needs. */
export interface GroupDeletionOptions {
  readonly engine: AuthorizationEngine;
  readonly records: GroupRecords;
  readonly tree: GroupTree;
  readonly rules: WriteRules;
  readonly zones: ZoneKeeper;
}

/** The relations of a group by which somebody writes its relationships, with its place. */
const OWN = ["zone", "parent", "owner", "manager", "permission_admin"] as const;
/** How many relationships the first write of a deletion may remove. */
const MOST = MAX_UPDATES - 1;

/**
 * Deletes groups. The record is marked first, so nobody sees the group. Then one write removes its
 * place, everybody's power over it, and what its members hold as owners, administrators and members of
 * other groups: it decides the deletion, and the group is nobody's. The recorded removal then takes
 * away the rest, such as its members, and the record goes last.
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
    const { records, tree, rules, zones } = this.#options;
    if (await tree.hasChildren(id, signal)) throw hasChildren();
    const [own, held] = [await this.#own(id, signal), await this.#held(id, signal)];
    const revoked = deletions(held.filter(isPower));
    const allowed =
      revoked.length === 0 ? NOTHING : await rules.assertMayWrite(caller, revoked, signal);
    if (!(await records.advance(id, ["ready"], "deleting"))) throw notFound();
    const updates = deletions([...own, ...held]);
    const preconditions = [
      mustExist(zoneOf(id, organizationId)),
      { kind: "MUST_NOT_MATCH", filter: childrenFilter(id) } as const,
      ...allowed.preconditions,
    ];
    try {
      await zones.write({ updates, preconditions }, signal);
    } catch (error) {
      await this.#takeBack(id, error);
      throw (await tree.hasChildren(id, signal)) ? hasChildren() : refused(error);
    }
    await records.beginRemoval(id);
  }

  /** The group stays where the write was refused; else it may have happened, and the job finds out. */
  async #takeBack(id: string, error: unknown): Promise<void> {
    if (!isRefusal(error)) throw error;
    await this.#options.records.advance(id, ["deleting"], "ready");
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

  async #read(filter: RelationshipFilter, signal: AbortSignal): Promise<readonly Relationship[]> {
    const found: Relationship[] = [];
    let cursor: string | undefined;
    do {
      const page = cursor === undefined ? {} : { cursor };
      const read = await this.#options.engine.readRelationships(filter, page, { signal });
      found.push(...read.items);
      atMost(found);
      cursor = read.nextCursor;
    } while (cursor !== undefined);
    return found;
  }
}

const NOTHING = { preconditions: [] } as const;

function deletions(relationships: readonly Relationship[]): readonly RelationshipUpdate[] {
  return relationships.map((relationship) => ({ operation: "DELETE", relationship }));
}

function atMost(relationships: readonly Relationship[]): readonly Relationship[] {
  if (relationships.length <= MOST / 2) return relationships;
  throw new ServiceError(
    "FAILED_PRECONDITION",
    `the group has, or was granted, more than ${Math.floor(MOST / 2)} relations of owners and administrators: remove some of them first`,
  );
}

/** What is granted only by those who hold as much: the same as when a member is added. */
function isPower({ resource, relation }: Relationship): boolean {
  if (relation === "owner" || relation === "admin") return true;
  return (
    resource.type === "zone" && (relation === "permission_admin" || relation === "user_manager")
  );
}

function isRefusal(error: unknown): boolean {
  return error instanceof ServiceError
    ? error.code === "FAILED_PRECONDITION" || error.code === "FORBIDDEN"
    : error instanceof AuthzError && error.code === "FAILED_PRECONDITION";
}

function refused(error: unknown): unknown {
  if (!(error instanceof AuthzError)) return error;
  return new ServiceError(
    "FAILED_PRECONDITION",
    "the group was changed meanwhile: repeat the deletion",
    { cause: error },
  );
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
