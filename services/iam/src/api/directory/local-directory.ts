import type { AuthorizationEngine, Relationship, RelationshipFilter } from "svc-access/authz";
import { ServiceError } from "svc-access/runtime";
import type { LocalAccount } from "../../people/accounts/account-row.ts";
import type { LocalAccounts } from "../../people/accounts/local-accounts.ts";
import type { FoundUsers, UserSearch } from "../../people/accounts/user-search.ts";
import type {
  Directory,
  DirectoryGroup,
  DirectoryOrganization,
  DirectoryPage,
  DirectoryUser,
  GroupQuery,
  UserQuery,
} from "../../provider/directory.ts";
import { againAfterWrites } from "../../rights/again-after-writes.ts";
import type { GroupRecord, GroupRecords } from "../groups/group-records.ts";
import { childrenFilter, type GroupTree } from "../groups/group-tree.ts";
import type { OrganizationRecords } from "../organizations/organization-records.ts";
import type { Groups } from "../users/groups.ts";

/** What the directory is made of. */
export interface LocalDirectoryOptions {
  readonly engine: Pick<AuthorizationEngine, "readRelationships">;
  readonly accounts: Pick<LocalAccounts, "find">;
  readonly search: UserSearch;
  readonly groupsOf: Groups;
  readonly groups: GroupRecords;
  readonly tree: GroupTree;
  readonly organizations: Pick<OrganizationRecords, "find">;
  /** `iam.organization`: whose users they are. */
  readonly organization: string;
}

/** The most members of a group, or groups right below one, that are sorted for a page. */
const MOST = 10_000;

/** The directory of the embedded provider: the local users, and the groups and organizations of this service. */
export class LocalDirectory implements Directory {
  readonly #options: LocalDirectoryOptions;

  constructor(options: LocalDirectoryOptions) {
    this.#options = options;
  }

  async organization(id: string): Promise<DirectoryOrganization | undefined> {
    return this.#options.organizations.find(id);
  }

  async user(
    organization: string,
    id: string,
    signal: AbortSignal,
  ): Promise<DirectoryUser | undefined> {
    if (organization !== this.#options.organization) return undefined;
    const account = await this.#options.accounts.find(id);
    if (account === undefined) return undefined;
    return { ...account, groupIds: await this.#options.groupsOf.ofUser(id, { signal }) };
  }

  async users(
    organization: string,
    { size: limit, after, text, groupId }: UserQuery,
    signal: AbortSignal,
  ): Promise<DirectoryPage<DirectoryUser> | undefined> {
    if (organization !== this.#options.organization) return this.#empty(organization);
    const query = { text, after, limit };
    const { search } = this.#options;
    const found =
      groupId === ""
        ? await search.search(query)
        : await search.among(await this.#members(organization, groupId, signal), query);
    return this.#withGroups(found, signal);
  }

  async groups(
    organization: string,
    { size, after, parentId }: GroupQuery,
    signal: AbortSignal,
  ): Promise<DirectoryPage<DirectoryGroup> | undefined> {
    if ((await this.organization(organization)) === undefined) return undefined;
    const { groups, tree } = this.#options;
    // One more than is returned shows whether there is a next page.
    const found =
      parentId === ""
        ? await groups.list(organization, after, size + 1)
        : await this.#children(organization, parentId, { after, limit: size + 1 }, signal);
    const page = found.slice(0, size);
    const parents = await tree.parentsOf(
      page.map(({ id }) => id),
      signal,
    );
    const last = page.at(-1);
    return {
      items: page.map((group) => ({ ...group, parentId: parents.get(group.id) ?? "" })),
      next: found.length > size && last !== undefined ? last.id : "",
    };
  }

  /** All users belong to one organization. */
  async #empty<Item>(organization: string): Promise<DirectoryPage<Item> | undefined> {
    const exists = (await this.organization(organization)) !== undefined;
    return exists ? { items: [], next: "" } : undefined;
  }

  async #withGroups(
    { users, next }: FoundUsers,
    signal: AbortSignal,
  ): Promise<DirectoryPage<DirectoryUser>> {
    const ids = users.map(({ id }) => id);
    const groupIds = await this.#options.groupsOf.ofUsers(ids, { signal });
    const shown = (user: LocalAccount) => ({ ...user, groupIds: groupIds.get(user.id) ?? [] });
    return { items: users.map(shown), next: next ?? "" };
  }

  /** The direct members of a group of an organization. */
  async #members(
    organization: string,
    groupId: string,
    signal: AbortSignal,
  ): Promise<readonly string[]> {
    const group = await this.#options.groups.find(groupId);
    if (group?.organizationId !== organization) return [];
    const subject = { type: "user", relation: "" };
    const filter = { resourceType: "group", resourceId: groupId, relation: "member", subject };
    return this.#all(filter, ({ subject }) => subject.id, signal);
  }

  async #children(
    organization: string,
    parentId: string,
    { after, limit }: { readonly after: string; readonly limit: number },
    signal: AbortSignal,
  ): Promise<readonly GroupRecord[]> {
    const { groups } = this.#options;
    const parent = await groups.find(parentId);
    if (parent?.organizationId !== organization) return [];
    const ids = await this.#all(childrenFilter(parentId), ({ resource }) => resource.id, signal);
    const left = ids.filter((id) => id > after).sort();
    const found: GroupRecord[] = [];
    for (let start = 0; start < left.length && found.length < limit; start += limit) {
      const part = left.slice(start, start + limit);
      const records = await groups.findAll(part);
      for (const id of part) {
        const record = records.get(id);
        if (record?.organizationId === organization) found.push(record);
      }
    }
    return found.slice(0, limit);
  }

  #all(
    filter: RelationshipFilter,
    idOf: (relationship: Relationship) => string,
    signal: AbortSignal,
  ): Promise<readonly string[]> {
    return againAfterWrites(() => this.#allAtOnce(filter, idOf, signal));
  }

  /** @throws AuthzError OUT_OF_RANGE if there were writes between two pages */
  async #allAtOnce(
    filter: RelationshipFilter,
    idOf: (relationship: Relationship) => string,
    signal: AbortSignal,
  ): Promise<readonly string[]> {
    const ids: string[] = [];
    let cursor: string | undefined;
    do {
      const page = cursor === undefined ? {} : { cursor };
      const options = { signal };
      const found = await this.#options.engine.readRelationships(filter, page, options);
      ids.push(...found.items.map(idOf));
      if (ids.length > MOST) {
        throw new ServiceError(
          "FAILED_PRECONDITION",
          `the group has more than ${MOST} members, or groups below it: list them with IAMGroupService`,
        );
      }
      cursor = found.nextCursor;
    } while (cursor !== undefined);
    return ids;
  }
}
