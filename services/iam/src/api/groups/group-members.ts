import {
  type AuthorizationEngine,
  AuthzError,
  type Relationship,
  type Revision,
  type SubjectReference,
} from "svc-access/authz";
import { ServiceError } from "svc-access/runtime";
import type { OutsideValues } from "../../ground/secrets/outside-values.ts";
import type { Caller } from "../../rights/caller-rights.ts";
import { unique } from "../../rights/decided-path.ts";
import type { LastOwner } from "../../rights/last-owner.ts";
import type { RelationshipRules } from "../../rights/relationship-rules.ts";
import { ListTokens } from "../relationships/list-token.ts";
import { RelationshipList } from "../relationships/relationship-list.ts";
import type { GroupRecord } from "./group-records.ts";
import { mustExist, zoneOf } from "./group-tree.ts";

/** What changes of members need. */
export interface GroupMembersOptions {
  readonly engine: AuthorizationEngine;
  readonly rules: Pick<RelationshipRules, "assertMayWrite">;
  readonly lastOwner: Pick<LastOwner, "write">;
  /** Seals page tokens. */
  readonly pageTokens: OutsideValues;
}

type Group = Pick<GroupRecord, "id" | "organizationId">;

/** The direct members of groups. */
export class GroupMembers {
  readonly #options: GroupMembersOptions;

  constructor(options: GroupMembersOptions) {
    this.#options = options;
  }

  /**
   * Adds a member. The write fails once the group, or a group that is to be the member, is deleted.
   *
   * @throws ServiceError FORBIDDEN, INVALID_ARGUMENT or FAILED_PRECONDITION
   */
  async add(
    caller: Caller,
    group: Group,
    member: SubjectReference,
    signal: AbortSignal,
  ): Promise<Revision> {
    const { rules, lastOwner } = this.#options;
    const relationship = memberOf(group.id, member);
    const updates = [{ operation: "TOUCH", relationship }] as const;
    const decide = async () => {
      const { preconditions } = await rules.assertMayWrite(caller, updates, signal);
      return unique([mustExist(zoneOf(group.id, group.organizationId)), ...preconditions]);
    };
    const write = lastOwner.write(updates, decide, signal);
    return (await write.catch(explain)).revision;
  }

  /**
   * Removes a member.
   *
   * @throws ServiceError FORBIDDEN, INVALID_ARGUMENT, or FAILED_PRECONDITION where a zone would lose its
   * last enabled owner
   */
  async remove(
    caller: Caller,
    group: Group,
    member: SubjectReference,
    signal: AbortSignal,
  ): Promise<Revision> {
    const { rules, lastOwner } = this.#options;
    const relationship = memberOf(group.id, member);
    const updates = [{ operation: "DELETE", relationship }] as const;
    const decide = async () => (await rules.assertMayWrite(caller, updates, signal)).preconditions;
    const write = lastOwner.write(updates, decide, signal);
    return (await write.catch(explain)).revision;
  }

  /**
   * The direct members, a page at a time, for a caller who holds `view`. Writes between two pages do not
   * end the list.
   *
   * @throws ServiceError INVALID_ARGUMENT for a token that is not of this list
   */
  async list(
    caller: Caller,
    id: string,
    { pageSize, pageToken }: { readonly pageSize: number; readonly pageToken: string },
    signal: AbortSignal,
  ): Promise<{ readonly members: readonly SubjectReference[]; readonly next: string }> {
    const { engine, pageTokens } = this.#options;
    const { subjectType, subjectId } = caller;
    const tokens = new ListTokens(pageTokens, "ListMembers", caller);
    const list = new RelationshipList(engine, tokens, { signal });
    const visibleTo = { subject: { type: subjectType, id: subjectId }, permission: "view" };
    const listed = { resourceType: "group", resourceId: id, relation: "member", visibleTo };
    const page = await list.page(listed, pageSize, pageToken);
    return {
      members: page.relationships.map(({ subject }) => subject),
      next: page.nextPageToken,
    };
  }
}

function memberOf(id: string, subject: SubjectReference): Relationship {
  return { resource: { type: "group", id }, relation: "member", subject };
}

function explain(error: unknown): never {
  if (!(error instanceof AuthzError) || error.code !== "FAILED_PRECONDITION") throw error;
  // A cycle names only groups of which the caller knows one.
  const isCycle = error.message.includes("close a cycle");
  throw new ServiceError(
    "FAILED_PRECONDITION",
    isCycle
      ? "the group would be a member of itself"
      : "the group, or what it was granted, was changed or deleted meanwhile: try again",
    { cause: error },
  );
}
