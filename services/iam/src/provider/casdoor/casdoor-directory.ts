import { type ProcessLogger, ServiceError } from "svc-access/runtime";
import type {
  Directory,
  DirectoryGroup,
  DirectoryOrganization,
  DirectoryPage,
  DirectoryUser,
  GroupQuery,
  UserQuery,
} from "../directory.ts";
import type { CasdoorApi } from "./casdoor-api.ts";
import { PAGE_SIZE, readPage } from "./casdoor-pages.ts";
import { groupOf, organizationOf, userOf } from "./casdoor-records.ts";

/** What a directory of Casdoor needs. */
export interface CasdoorDirectoryOptions {
  readonly api: CasdoorApi;
  /** The one organization that is shown. */
  readonly organization: string;
  readonly logger: Pick<ProcessLogger, "error">;
}

/** How many pages are read for one page of users: few may match. */
const MOST_READS = 10;
const MOST_GROUP_PAGES = 100;
/** What positions begin with, of lists of users and of groups. */
const USERS = "casdoor.users.";
const GROUPS = "casdoor.groups.";

/** One organization of Casdoor, by its management API. Nothing is cached. */
export class CasdoorDirectory implements Directory {
  readonly #options: CasdoorDirectoryOptions;

  constructor(options: CasdoorDirectoryOptions) {
    this.#options = options;
  }

  async organization(id: string, signal: AbortSignal): Promise<DirectoryOrganization | undefined> {
    const { api, organization } = this.#options;
    if (id !== organization) return undefined;
    const schema = organizationOf(id).nullable();
    const { data } = await api.read("get-organization", { id: `admin/${id}` }, schema, signal);
    return data ?? undefined;
  }

  async user(owner: string, id: string, signal: AbortSignal): Promise<DirectoryUser | undefined> {
    const { api, organization } = this.#options;
    if (owner !== organization || id === "") return undefined;
    const schema = userOf(owner)
      .refine(({ user }) => user.id === id, "is another user")
      .nullable();
    const { data } = await api.read("get-user", { owner, userId: id }, schema, signal);
    return data === null || data.isDeleted ? undefined : data.user;
  }

  async users(
    owner: string,
    { size, after, text, groupId }: UserQuery,
    signal: AbortSignal,
  ): Promise<DirectoryPage<DirectoryUser> | undefined> {
    if (owner !== this.#options.organization) return undefined;
    const items: DirectoryUser[] = [];
    const prefix = text.toLowerCase();
    let position = readUserPosition(after);
    for (let reads = 0; reads < MOST_READS; reads++) {
      const { records, total } = await this.#userPage(Math.floor(position / PAGE_SIZE), signal);
      for (const { user, isDeleted } of records.slice(position % PAGE_SIZE)) {
        if (items.length === size) return { items, next: writeUserPosition(position) };
        position += 1;
        if (!isDeleted && isMatch(user, prefix, groupId)) items.push(user);
      }
      if (position >= total) return { items, next: "" };
    }
    return { items, next: writeUserPosition(position) };
  }

  async groups(
    owner: string,
    { size, after, parentId }: GroupQuery,
    signal: AbortSignal,
  ): Promise<DirectoryPage<DirectoryGroup> | undefined> {
    if (owner !== this.#options.organization) return undefined;
    const last = readGroupPosition(after);
    const found = (await this.#allGroups(signal))
      .filter((group) => (parentId === "" || group.parentId === parentId) && group.id > last)
      .sort((a, b) => (a.id < b.id ? -1 : 1));
    const items = found.slice(0, size);
    const end = items.at(-1);
    const hasMore = found.length > size && end !== undefined;
    return { items, next: hasMore ? writeGroupPosition(end.id) : "" };
  }

  async #userPage(page: number, signal: AbortSignal) {
    const { api, organization: owner } = this.#options;
    const operation = "get-users" as const;
    const idOf = ({ user }: { readonly user: DirectoryUser }) => user.id;
    const request = { operation, owner, page, schema: userOf(owner), idOf };
    const { items, total } = await readPage(api, request, signal);
    return { records: items, total };
  }

  /** All groups: only together do they show whether one is above itself. */
  async #allGroups(signal: AbortSignal): Promise<DirectoryGroup[]> {
    const { api, organization: owner } = this.#options;
    const operation = "get-groups" as const;
    const idOf = ({ id }: DirectoryGroup) => id;
    const read = (page: number) =>
      readPage(api, { operation, owner, page, schema: groupOf(owner), idOf }, signal);
    const first = await read(0);
    const pages = Math.ceil(first.total / PAGE_SIZE);
    if (pages > MOST_GROUP_PAGES) throw this.#refused(`it has ${first.total} groups`);
    const others = await Promise.all(
      Array.from({ length: Math.max(0, pages - 1) }, (_, index) => read(index + 1)),
    );
    const groups = [first, ...others].flatMap(({ items }) => items);
    if (new Set(groups.map(({ id }) => id)).size !== groups.length) {
      throw this.#refused("two groups have one id");
    }
    const cycle = groupInCycle(groups);
    if (cycle !== undefined) throw this.#refused(`the group ${cycle} is above itself`);
    return groups;
  }

  #refused(problem: string): ServiceError {
    this.#options.logger.error({ problem }, "the directory of Casdoor is not valid");
    return new ServiceError("UNAVAILABLE", "the directory of the identity provider is not valid");
  }
}

function isMatch(user: DirectoryUser, prefix: string, groupId: string): boolean {
  if (groupId !== "" && !user.groupIds.includes(groupId)) return false;
  const texts = [user.username, user.displayName, user.email];
  return prefix === "" || texts.some((text) => text.toLowerCase().startsWith(prefix));
}

/** A group that is above itself; undefined where there is none. */
function groupInCycle(groups: readonly DirectoryGroup[]): string | undefined {
  const parents = new Map(groups.map(({ id, parentId }) => [id, parentId]));
  const checked = new Set<string>();
  for (const { id } of groups) {
    const path = new Set<string>();
    let at: string | undefined = id;
    while (at !== undefined && at !== "" && !checked.has(at)) {
      if (path.has(at)) return at;
      path.add(at);
      at = parents.get(at);
    }
    for (const one of path) checked.add(one);
  }
  return undefined;
}

/** The position after so many users. Casdoor has no other: users that are added move it. */
function writeUserPosition(count: number): string {
  return `${USERS}${count}`;
}

/**
 * How many users come before; 0 for the first page.
 *
 * @throws ServiceError INVALID_ARGUMENT where it is not of `writeUserPosition`
 */
function readUserPosition(text: string): number {
  if (text === "") return 0;
  const [, digits] = /^casdoor\.users\.([1-9]\d{0,8})$/.exec(text) ?? [];
  if (digits === undefined) throw notOurs();
  return Number(digits);
}

/** The position after a group. */
function writeGroupPosition(id: string): string {
  return GROUPS + Buffer.from(id).toString("base64url");
}

/**
 * The group that comes before; empty for the first page.
 *
 * @throws ServiceError INVALID_ARGUMENT where it is not of `writeGroupPosition`
 */
function readGroupPosition(text: string): string {
  if (text === "") return "";
  const id = Buffer.from(text.slice(GROUPS.length), "base64url").toString();
  if (id === "" || text !== writeGroupPosition(id)) throw notOurs();
  return id;
}

function notOurs(): ServiceError {
  return new ServiceError("INVALID_ARGUMENT", "page_token is not one that this list returned");
}
