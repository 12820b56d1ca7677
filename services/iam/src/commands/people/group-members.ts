import { IAMGroupService } from "../../../gen/svc/iam/v1/groups_pb.ts";
import { IAMGroupServiceRoutes } from "../../../gen/svc/iam/v1/groups_server.ts";
import { SubjectReferenceSchema } from "../../../gen/svc/iam/v1/relationship_pb.ts";
import { connect } from "../connection/connect.ts";
import type { Connection } from "../connection/connection.ts";
import { idOf, namedObject } from "../connection/names.ts";
import { subjectOf, type WrittenSubject } from "../connection/references.ts";
import type { CallFlags, ListFlags } from "../run/flags.ts";
import { readPages } from "../run/pages.ts";
import { printable, printJson } from "../run/print.ts";
import { printList, type Shown } from "../run/print-messages.ts";
import { EXIT, say } from "../run/run-command.ts";

const MEMBERS: Shown<typeof SubjectReferenceSchema> = {
  schema: SubjectReferenceSchema,
  name: ["member", "members"],
  columns: [
    ["TYPE", ({ type, relation }) => (relation === "" ? type : `${type}#${relation}`)],
    ["ID", ({ id }) => id],
  ],
};

/** Adds a member to a group. @returns the exit code */
export function addMember(given: string, member: string, flags: CallFlags): Promise<number> {
  return change(given, member, flags, async (connection, request) => {
    const groups = connection.client(IAMGroupService, IAMGroupServiceRoutes);
    return { ...(await groups.addMember(request)), done: "added to" };
  });
}

/** Removes a member from a group. @returns the exit code */
export function removeMember(given: string, member: string, flags: CallFlags): Promise<number> {
  return change(given, member, flags, async (connection, request) => {
    const groups = connection.client(IAMGroupService, IAMGroupServiceRoutes);
    return { ...(await groups.removeMember(request)), done: "removed from" };
  });
}

/** Lists the members of a group. @returns the exit code */
export async function listMembers(given: string, { limit, format }: ListFlags): Promise<number> {
  await using connection = await connect();
  const { organizationId } = connection;
  const groupId = await idOf(connection, "group", given);
  const groups = connection.client(IAMGroupService, IAMGroupServiceRoutes);
  const listed = await readPages(limit, async (page) => {
    const found = await groups.listMembers({ ...page, organizationId, groupId });
    return { items: found.members, next: found.nextPageToken };
  });
  await printList(MEMBERS, listed, format);
  return EXIT.done;
}

interface MemberRequest {
  readonly organizationId: string;
  readonly groupId: string;
  readonly member: WrittenSubject;
}

type Change = (
  connection: Connection,
  request: MemberRequest,
) => Promise<{ readonly revision: string; readonly done: string }>;

async function change(
  given: string,
  text: string,
  { format }: CallFlags,
  apply: Change,
): Promise<number> {
  const written = subjectOf(text);
  await using connection = await connect();
  const { organizationId } = connection;
  const groupId = await idOf(connection, "group", given);
  const { relation, ...member } = await namedObject(connection, written);
  // The members of a group are members of another one, not the group itself.
  const isGroup = member.type === "group" && relation === "";
  const { revision, done } = await apply(connection, {
    organizationId,
    groupId,
    member: { ...member, relation: isGroup ? "member" : relation },
  });
  if (format === "json") await printJson({ revision });
  else say(`${printable(text)} ${done} the group ${printable(given)}`);
  return EXIT.done;
}
