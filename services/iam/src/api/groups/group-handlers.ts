import { create } from "@bufbuild/protobuf";
import type { SubjectReference } from "svc-access/authz";
import { type CallContext, creationId, requirePrincipal, ServiceError } from "svc-access/runtime";
import { GroupSchema } from "../../../gen/svc/iam/v1/directory_pb.ts";
import type { UpdateGroupRequest } from "../../../gen/svc/iam/v1/groups_pb.ts";
import type { IAMGroupServiceHandlers } from "../../../gen/svc/iam/v1/groups_server.ts";
import { refuseFixedFields } from "../../ground/rpc/fixed-fields.ts";
import { ChangedMeanwhileError, changeNewest } from "../../ground/rpc/lost-race.ts";
import { PageTokens, pageSizeOf } from "../../ground/rpc/paging.ts";
import { toSubject } from "../../ground/rpc/relationship-messages.ts";
import { changedFields, required } from "../../ground/rpc/request-fields.ts";
import { SealedTokens } from "../../ground/rpc/sealed-tokens.ts";
import type { OutsideValues } from "../../ground/secrets/outside-values.ts";
import { displayNameProblem } from "../../people/accounts/account-texts.ts";
import type { GroupCreation } from "./group-creation.ts";
import type { GroupDeletion } from "./group-deletion.ts";
import type { GroupMembers } from "./group-members.ts";
import { groupMessage } from "./group-message.ts";
import type { GroupMoves } from "./group-moves.ts";
import type { GroupRecord, GroupRecords } from "./group-records.ts";
import type { GroupTree } from "./group-tree.ts";
import type { GroupVisibility } from "./group-visibility.ts";
import type { PlaceRights } from "./place-rights.ts";
import type { VisibleGroups } from "./visible-groups.ts";

/** What the handlers need. */
export interface GroupHandlersOptions {
  readonly records: GroupRecords;
  readonly tree: GroupTree;
  readonly places: Pick<PlaceRights, "assertManages">;
  readonly creation: GroupCreation;
  readonly moves: GroupMoves;
  readonly deletion: GroupDeletion;
  readonly members: GroupMembers;
  readonly visible: VisibleGroups;
  readonly visibility: GroupVisibility;
  /** Seals page tokens. */
  readonly pageTokens: OutsideValues;
}

const LIST_VISIBLE = "IAMGroupService/ListVisibleGroups";

/** The handlers of IAMGroupService. */
export function groupHandlers(options: GroupHandlersOptions): IAMGroupServiceHandlers {
  const { records, tree, places, creation, moves, deletion, members, visible, visibility } =
    options;
  const { pageTokens } = options;
  const messagesOf = async (shown: readonly GroupRecord[], context: CallContext) => {
    const caller = requirePrincipal(context);
    const ids = shown.map(({ id }) => id);
    const parents = await tree.parentsOf(ids, context.signal);
    const [organizationId = ""] = shown.map((record) => record.organizationId);
    // Whoever may see a group may not see the one above by that.
    const seen = await visibility.among(caller, organizationId, parents.values(), context.signal);
    return shown.map((record) => {
      const parent = parents.get(record.id) ?? "";
      return groupMessage(record, seen.has(parent) ? parent : "");
    });
  };
  const messageOf = async (record: GroupRecord, context: CallContext) => {
    const [group] = await messagesOf([record], context);
    return group === undefined ? {} : { group };
  };
  const update = async (
    { group, updateMask, ...request }: UpdateGroupRequest,
    context: CallContext,
  ) => {
    const { displayName = "", etag = "" } = group ?? {};
    const changed = changedFields(updateMask, { display_name: displayName !== "" });
    const record = await groupOf(request, records);
    // It keeps the name of before a rule on new ones.
    const isRenamed = changed.has("display_name") && displayName !== record.displayName;
    if (isRenamed) assertDisplayName(displayName);
    await places.assertManages(requirePrincipal(context), record.id, context.signal);
    if (etag !== "" && etag !== record.etag) throw changedMeanwhile();
    await refuseFixedFields(
      { schema: GroupSchema, given: group, mask: updateMask, changeable: ["display_name"] },
      async () => create(GroupSchema, (await messageOf(record, context)).group),
    );
    const next = changed.has("display_name")
      ? await records.rename(record.id, displayName, record.etag)
      : record;
    if (next === undefined) throw changedMeanwhile();
    return messageOf(next, context);
  };
  return {
    async createGroup({ organizationId, parentId, displayName }, context) {
      required("organization_id", organizationId);
      assertDisplayName(displayName);
      const caller = requirePrincipal(context);
      const group = { organizationId, parentId, displayName };
      const id = creationId(context);
      const record = await creation.create(caller, group, context.signal, id);
      context.audit.setResource(`group:${record.id}`);
      return { group: groupMessage(record, parentId) };
    },

    async getGroup(request, context) {
      const record = await groupOf(request, records);
      return messageOf(record, context);
    },

    async listVisibleGroups(request, context) {
      const organizationId = required("organization_id", request.organizationId);
      const size = pageSizeOf(request);
      const caller = requirePrincipal(context);
      const sealed = new SealedTokens(pageTokens, LIST_VISIBLE, caller);
      const tokens = new PageTokens(sealed, organizationId);
      // One more than is returned shows whether there is a next page.
      const page = { after: tokens.read(request.pageToken), limit: size + 1 };
      const found = await visible.list(caller, organizationId, page, context.signal);
      const shown = found.slice(0, size);
      const last = shown.at(-1);
      return {
        groups: await messagesOf(shown, context),
        nextPageToken: found.length > size && last !== undefined ? tokens.after(last.id) : "",
      };
    },

    async updateGroup(request, context) {
      const etag = request.group?.etag ?? "";
      return changeNewest(etag, context.signal, () => update(request, context));
    },

    async moveGroup({ parentId, ...request }, context) {
      const record = await groupOf(request, records);
      const caller = requirePrincipal(context);
      const from = await moves.move(caller, record, parentId, context.signal);
      if (from !== parentId) await recordMove(record, from, parentId, context);
      return { group: groupMessage(record, parentId) };
    },

    async deleteGroup(request, context) {
      const record = await groupOf(request, records);
      await deletion.delete(requirePrincipal(context), record, context.signal);
      return {};
    },

    async addMember(request, context) {
      const member = toSubject(request.member, "member");
      const group = await groupOf(request, records);
      const caller = requirePrincipal(context);
      const revision = await members.add(caller, group, member, context.signal);
      await recordMember("group.member_added", group, member, context);
      return { revision };
    },

    async removeMember(request, context) {
      const member = toSubject(request.member, "member");
      const group = await groupOf(request, records);
      const caller = requirePrincipal(context);
      const revision = await members.remove(caller, group, member, context.signal);
      await recordMember("group.member_removed", group, member, context);
      return { revision };
    },

    async listMembers(request, context) {
      const page = { pageSize: pageSizeOf(request), pageToken: request.pageToken };
      const group = await groupOf(request, records);
      const caller = requirePrincipal(context);
      const { members: found, next } = await members.list(caller, group.id, page, context.signal);
      return { members: [...found], nextPageToken: next };
    },
  };
}

/**
 * The group of a request, which names its organization, too: the permission was checked on the group.
 *
 * @throws ServiceError INVALID_ARGUMENT or RESOURCE_NOT_FOUND
 */
async function groupOf(
  request: { readonly organizationId: string; readonly groupId: string },
  records: Pick<GroupRecords, "find">,
): Promise<GroupRecord> {
  required("organization_id", request.organizationId);
  const record = await records.find(request.groupId);
  if (record?.organizationId === request.organizationId) return record;
  throw new ServiceError("RESOURCE_NOT_FOUND", "the organization has no such group");
}

function assertDisplayName(displayName: string): void {
  const problem = displayNameProblem(displayName);
  if (problem === undefined) return;
  throw new ServiceError("INVALID_ARGUMENT", `display_name ${problem}`, {
    details: { fields: { display_name: problem } },
  });
}

function changedMeanwhile(): ChangedMeanwhileError {
  return new ChangedMeanwhileError(
    "the group was changed meanwhile: read it again, and repeat the change",
  );
}

async function recordMove(
  { id }: Pick<GroupRecord, "id">,
  from: string,
  to: string,
  { audit }: CallContext,
): Promise<void> {
  const details = { from: placeName(from), to: placeName(to) };
  await audit.record({
    event: "group.moved",
    riskLevel: "HIGH",
    resource: `group:${id}`,
    details,
  });
}

function placeName(parentId: string): string {
  return parentId === "" ? "the top" : `group:${parentId}`;
}

async function recordMember(
  event: string,
  { id }: Pick<GroupRecord, "id">,
  { type, id: subjectId, relation }: SubjectReference,
  { audit }: CallContext,
): Promise<void> {
  const member = `${type}:${subjectId}${relation === undefined ? "" : `#${relation}`}`;
  await audit.record({ event, riskLevel: "HIGH", resource: `group:${id}`, details: { member } });
}
