import {
  type Group,
  GroupSchema,
  IAMDirectoryService,
} from "../../../gen/svc/iam/v1/directory_pb.ts";
import { IAMDirectoryServiceRoutes } from "../../../gen/svc/iam/v1/directory_server.ts";
import { IAMGroupService } from "../../../gen/svc/iam/v1/groups_pb.ts";
import { IAMGroupServiceRoutes } from "../../../gen/svc/iam/v1/groups_server.ts";
import { connect } from "../connection/connection.ts";
import { idOf } from "../connection/names.ts";
import { CommandError, nothingToChange } from "../run/command-error.ts";
import { confirmationOf, withId } from "../run/confirm.ts";
import type { ConfirmFlags } from "../run/confirm-flag.ts";
import type { CallFlags, ListFlags } from "../run/flags.ts";
import { readPages } from "../run/pages.ts";
import { printable, printJson } from "../run/print.ts";
import { printDone, printList, printMessage, type Shown } from "../run/print-messages.ts";
import { EXIT, say } from "../run/run-command.ts";
import { warnOfSameName } from "./same-names.ts";

const GROUPS: Shown<typeof GroupSchema> = {
  schema: GroupSchema,
  name: ["group", "groups"],
  columns: [
    ["ID", ({ id }) => id],
    ["PARENT", ({ parentId }) => parentId],
    ["NAME", ({ displayName }) => displayName],
  ],
};

/** Where a group is put. */
export interface PlaceFlags extends CallFlags {
  readonly parent?: string;
}

/** Lists groups. @returns the exit code */
export async function listGroups(flags: ListFlags & PlaceFlags): Promise<number> {
  const { parent, limit, format } = flags;
  await using connection = await connect();
  const { organizationId } = connection;
  const parentId = parent === undefined ? "" : await idOf(connection, "group", parent);
  const groups = connection.client(IAMGroupService, IAMGroupServiceRoutes);
  const directory = connection.client(IAMDirectoryService, IAMDirectoryServiceRoutes);
  const listed = await readPages(limit, async (page) => {
    const found =
      parentId === ""
        ? await groups.listVisibleGroups({ ...page, organizationId })
        : await directory.listGroups({ ...page, organizationId, parentId });
    return { items: found.groups, next: found.nextPageToken };
  });
  await printList(GROUPS, listed, format);
  return EXIT.done;
}

/** Shows a group. @returns the exit code */
export async function getGroup(given: string, { format }: CallFlags): Promise<number> {
  await using connection = await connect();
  const { organizationId } = connection;
  const groupId = await idOf(connection, "group", given);
  const groups = connection.client(IAMGroupService, IAMGroupServiceRoutes);
  const { group } = await groups.getGroup({ organizationId, groupId });
  await printMessage(GroupSchema, group as Group, format);
  return EXIT.done;
}

/** Creates a group. @returns the exit code */
export async function createGroup(displayName: string, flags: PlaceFlags): Promise<number> {
  const { parent, format } = flags;
  await using connection = await connect();
  const { organizationId } = connection;
  const parentId = parent === undefined ? "" : await idOf(connection, "group", parent);
  const groups = connection.client(IAMGroupService, IAMGroupServiceRoutes);
  const { group } = await groups.createGroup({ organizationId, parentId, displayName });
  const done = `group ${printable(displayName)} created: ${group?.id}`;
  await printDone(GroupSchema, group as Group, done, format);
  await warnOfSameName(connection, "group", { id: group?.id ?? "", name: displayName });
  return EXIT.done;
}

/** Changes a group. @returns the exit code */
export async function updateGroup(
  given: string,
  flags: CallFlags & {
    readonly displayName?: string;
    readonly name?: string;
    readonly etag?: string;
  },
): Promise<number> {
  const { name, displayName = name, etag = "", format } = flags;
  if (displayName === undefined) throw nothingToChange("--display-name");
  await using connection = await connect();
  const { organizationId } = connection;
  const groupId = await idOf(connection, "group", given);
  const groups = connection.client(IAMGroupService, IAMGroupServiceRoutes);
  const { group } = await groups.updateGroup({
    organizationId,
    groupId,
    group: { displayName, etag },
    updateMask: { paths: ["display_name"] },
  });
  await printDone(GroupSchema, group as Group, `group ${printable(displayName)} changed`, format);
  await warnOfSameName(connection, "group", { id: groupId, name: displayName });
  return EXIT.done;
}

/** Moves a group. @returns the exit code */
export async function moveGroup(
  given: string,
  flags: PlaceFlags & { readonly top?: boolean },
): Promise<number> {
  const { parent, top = false, format } = flags;
  if ((parent !== undefined) === top) {
    throw new CommandError("name one place: --parent <group>, or --top");
  }
  await using connection = await connect();
  const { organizationId } = connection;
  const groupId = await idOf(connection, "group", given);
  const parentId = parent === undefined ? "" : await idOf(connection, "group", parent);
  const groups = connection.client(IAMGroupService, IAMGroupServiceRoutes);
  const { group } = await groups.moveGroup({ organizationId, groupId, parentId });
  await printDone(GroupSchema, group as Group, `group ${printable(given)} moved`, format);
  return EXIT.done;
}

/** Deletes a group. @returns the exit code */
export async function deleteGroup(
  given: string,
  { format, ...flags }: CallFlags & ConfirmFlags,
): Promise<number> {
  const confirm = confirmationOf(flags);
  await using connection = await connect();
  const { organizationId } = connection;
  const groupId = await idOf(connection, "group", given);
  const what = `the group ${withId(given, groupId)}`;
  await confirm(`delete ${what}, with what its members were granted by it?`);
  const groups = connection.client(IAMGroupService, IAMGroupServiceRoutes);
  await groups.deleteGroup({ organizationId, groupId });
  if (format === "json") await printJson({ id: groupId });
  else say(`group ${printable(given)} deleted`);
  return EXIT.done;
}
