import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { ServiceError } from "svc-access/runtime";
import type { GroupSchema, OrganizationSchema } from "../../gen/svc/iam/v1/directory_pb.ts";
import type { IAMDirectoryServiceHandlers } from "../../gen/svc/iam/v1/directory_server.ts";
import type { UserSchema } from "../../gen/svc/iam/v1/user_pb.ts";
import type {
  Directory,
  DirectoryGroup,
  DirectoryOrganization,
  DirectoryUser,
} from "../provider/directory.ts";

const DEFAULT_PAGE_SIZE = 50;
const MAX_PAGE_SIZE = 1000;
const LONGEST_TOKEN = 1024;
const LONGEST_TEXT = 256;

/** The handlers of IAMDirectoryService. The permissions on the zone were checked before. */
export function directoryHandlers(directory: Directory): IAMDirectoryServiceHandlers {
  return {
    async getOrganization({ organizationId }, { signal }) {
      const found = await directory.organization(organizationId, signal);
      if (found === undefined) throw notFound("organization");
      return { organization: organizationOf(found) };
    },

    async getUser({ organizationId, userId }, { signal }) {
      const found = await directory.user(organizationId, short("user_id", userId), signal);
      if (found === undefined) throw notFound("user");
      return { user: userOf(found) };
    },

    async listUsers({ organizationId, pageSize, pageToken, query, groupId }, { signal }) {
      const text = short("query", query);
      const request = { ...pageOf(pageSize, pageToken), text, groupId: short("group_id", groupId) };
      const page = await directory.users(organizationId, request, signal);
      if (page === undefined) throw notFound("organization");
      return { users: page.items.map(userOf), nextPageToken: page.next };
    },

    async listGroups({ organizationId, pageSize, pageToken, parentId }, { signal }) {
      const request = { ...pageOf(pageSize, pageToken), parentId: short("parent_id", parentId) };
      const page = await directory.groups(organizationId, request, signal);
      if (page === undefined) throw notFound("organization");
      return { groups: page.items.map(groupOf), nextPageToken: page.next };
    },
  };
}

function pageOf(pageSize: number, after: string) {
  if (pageSize < 0 || pageSize > MAX_PAGE_SIZE) {
    throw new ServiceError("INVALID_ARGUMENT", `page_size must be 0 to ${MAX_PAGE_SIZE}`);
  }
  if (after.length > LONGEST_TOKEN) {
    throw new ServiceError("INVALID_ARGUMENT", "page_token is not one that this list returned");
  }
  return { size: pageSize === 0 ? DEFAULT_PAGE_SIZE : pageSize, after };
}

function short(field: string, value: string): string {
  if (value.length <= LONGEST_TEXT) return value;
  throw new ServiceError(
    "INVALID_ARGUMENT",
    `${field} must have at most ${LONGEST_TEXT} characters`,
  );
}

function notFound(kind: string): ServiceError {
  return new ServiceError("RESOURCE_NOT_FOUND", `the directory has no such ${kind}`);
}

interface Times {
  readonly createTime: number | undefined;
  readonly updateTime: number | undefined;
}

function timesOf({ createTime, updateTime }: Times) {
  return {
    ...(createTime === undefined ? {} : { createTime: timestampFromMs(createTime) }),
    ...(updateTime === undefined ? {} : { updateTime: timestampFromMs(updateTime) }),
  };
}

function organizationOf(
  organization: DirectoryOrganization,
): MessageInitShape<typeof OrganizationSchema> {
  const { id, displayName, websiteUrl } = organization;
  return { id, displayName, websiteUrl, ...timesOf(organization) };
}

function userOf(user: DirectoryUser): MessageInitShape<typeof UserSchema> {
  const { id, username, displayName, email, organizationId, groupIds, avatarUrl, disabled } = user;
  return {
    id,
    username,
    displayName,
    email,
    organizationId,
    groupIds: [...groupIds],
    avatarUrl,
    disabled,
    ...timesOf(user),
  };
}

function groupOf(group: DirectoryGroup): MessageInitShape<typeof GroupSchema> {
  const { id, organizationId, parentId, displayName } = group;
  return { id, organizationId, parentId, displayName, ...timesOf(group) };
}
