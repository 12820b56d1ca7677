import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { type CallContext, requirePrincipal, ServiceError } from "svc-access/runtime";
import type { GroupSchema, OrganizationSchema } from "../../../gen/svc/iam/v1/directory_pb.ts";
import type { IAMDirectoryServiceHandlers } from "../../../gen/svc/iam/v1/directory_server.ts";
import type { UserSchema } from "../../../gen/svc/iam/v1/user_pb.ts";
import { PageTokens, pageSizeOf } from "../../ground/rpc/paging.ts";
import { required } from "../../ground/rpc/request-fields.ts";
import { SealedTokens } from "../../ground/rpc/sealed-tokens.ts";
import type { OutsideValues } from "../../ground/secrets/outside-values.ts";
import type {
  Directory,
  DirectoryGroup,
  DirectoryOrganization,
  DirectoryUser,
} from "../../provider/directory.ts";
import type { GroupVisibility } from "../groups/group-visibility.ts";

const LONGEST_TEXT = 256;
const LIST_USERS = "IAMDirectoryService/ListUsers";
const LIST_GROUPS = "IAMDirectoryService/ListGroups";

/**
 * The handlers of IAMDirectoryService. The permissions on the zone were checked before: `view_users` shows users, and
 * not which groups they are members of.
 *
 * @param pageTokens seals page tokens, whatever a position is in the directory
 */
export function directoryHandlers(
  directory: Directory,
  visibility: GroupVisibility,
  pageTokens: OutsideValues,
): IAMDirectoryServiceHandlers {
  const shown = async (
    organizationId: string,
    users: readonly DirectoryUser[],
    context: CallContext,
  ) => {
    const named = users.flatMap(({ groupIds }) => groupIds);
    const caller = requirePrincipal(context);
    const visible = await visibility.among(caller, organizationId, named, context.signal);
    return users.map((user) => userOf(user, visible));
  };
  return {
    async getOrganization({ organizationId }, { signal }) {
      const found = await directory.organization(organizationId, signal);
      if (found === undefined) throw notFound("organization");
      return { organization: organizationOf(found) };
    },

    async getUser({ organizationId, userId }, context) {
      const id = short("user_id", required("user_id", userId));
      const found = await directory.user(organizationId, id, context.signal);
      if (found === undefined) throw notFound("user");
      const [user] = await shown(organizationId, [found], context);
      return user === undefined ? {} : { user };
    },

    async listUsers({ pageToken, query, ...request }, context) {
      const { organizationId, groupId } = request;
      const { signal } = context;
      const caller = requirePrincipal(context);
      const text = short("query", query);
      const sealed = new SealedTokens(pageTokens, LIST_USERS, caller);
      const tokens = new PageTokens(sealed, organizationId, text, short("group_id", groupId));
      const wanted = { size: pageSizeOf(request), after: tokens.read(pageToken), text, groupId };
      if (groupId !== "") {
        await visibility.assertSees(caller, organizationId, groupId, signal);
      }
      const page = await directory.users(organizationId, wanted, signal);
      if (page === undefined) throw notFound("organization");
      return {
        users: await shown(organizationId, page.items, context),
        nextPageToken: page.next === "" ? "" : tokens.after(page.next),
      };
    },

    async listGroups({ pageToken, ...request }, context) {
      const { organizationId, parentId } = request;
      const sealed = new SealedTokens(pageTokens, LIST_GROUPS, requirePrincipal(context));
      const tokens = new PageTokens(sealed, organizationId, short("parent_id", parentId));
      const wanted = { size: pageSizeOf(request), after: tokens.read(pageToken), parentId };
      const page = await directory.groups(organizationId, wanted, context.signal);
      if (page === undefined) throw notFound("organization");
      const nextPageToken = page.next === "" ? "" : tokens.after(page.next);
      return { groups: page.items.map(groupOf), nextPageToken };
    },
  };
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

function userOf(
  user: DirectoryUser,
  visible: ReadonlySet<string>,
): MessageInitShape<typeof UserSchema> {
  const { id, username, displayName, email, organizationId, groupIds, avatarUrl, disabled } = user;
  return {
    id,
    username,
    displayName,
    email,
    organizationId,
    groupIds: groupIds.filter((group) => visible.has(group)),
    avatarUrl,
    disabled,
    ...timesOf(user),
  };
}

function groupOf(group: DirectoryGroup): MessageInitShape<typeof GroupSchema> {
  const { id, organizationId, parentId, displayName } = group;
  return { id, organizationId, parentId, displayName, ...timesOf(group) };
}
