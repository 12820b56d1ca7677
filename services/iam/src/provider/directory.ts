/** An organization, as a directory has it. */
export interface DirectoryOrganization {
  readonly id: string;
  readonly displayName: string;
  readonly websiteUrl: string;
  /** Milliseconds since the epoch, as all times; undefined where the directory does not say. */
  readonly createTime: number | undefined;
  readonly updateTime: number | undefined;
}

/** A user, as a directory has it. */
export interface DirectoryUser {
  /** The subject of the user's tokens. */
  readonly id: string;
  readonly username: string;
  readonly displayName: string;
  readonly email: string;
  readonly organizationId: string;
  /** The groups that the user is a direct member of. */
  readonly groupIds: readonly string[];
  /** Empty where there is none that can be shown. */
  readonly avatarUrl: string;
  readonly disabled: boolean;
  readonly createTime: number | undefined;
  readonly updateTime: number | undefined;
}

/** A group, as a directory has it. */
export interface DirectoryGroup {
  readonly id: string;
  readonly organizationId: string;
  /** Empty for a group at the top. */
  readonly parentId: string;
  readonly displayName: string;
  readonly createTime: number | undefined;
  readonly updateTime: number | undefined;
}

/** Which users are listed. */
export interface UserQuery {
  /** At least 1. */
  readonly size: number;
  /** The `next` of the page before; empty for the first. */
  readonly after: string;
  /** What the user name, display name or e-mail address starts with, in any letter case. */
  readonly text: string;
  /** A group that they are direct members of; empty for all. */
  readonly groupId: string;
}

/** Which groups are listed. */
export interface GroupQuery {
  /** At least 1. */
  readonly size: number;
  /** The `next` of the page before; empty for the first. */
  readonly after: string;
  /** The group right above; empty for the groups at every level. */
  readonly parentId: string;
}

/** A part of a list. It may have fewer items than were asked for, also where others follow. */
export interface DirectoryPage<Item> {
  readonly items: readonly Item[];
  /** Where the next page begins; empty on the last one. */
  readonly next: string;
}

/**
 * The organizations, users and groups of an identity provider. A record is undefined where the
 * directory has none.
 *
 * Its methods throw a ServiceError: INVALID_ARGUMENT for a position that is not of the same list,
 * UNAVAILABLE where the provider does not answer, or answers what is not valid.
 */
export interface Directory {
  /** One organization. */
  organization(id: string, signal: AbortSignal): Promise<DirectoryOrganization | undefined>;
  /** A user of an organization; one of another organization is not found. */
  user(organization: string, id: string, signal: AbortSignal): Promise<DirectoryUser | undefined>;
  /** The users of an organization, by user name; undefined where it has no such organization. */
  users(
    organization: string,
    query: UserQuery,
    signal: AbortSignal,
  ): Promise<DirectoryPage<DirectoryUser> | undefined>;
  /** The groups of an organization, by id; undefined where it has no such organization. */
  groups(
    organization: string,
    query: GroupQuery,
    signal: AbortSignal,
  ): Promise<DirectoryPage<DirectoryGroup> | undefined>;
}
