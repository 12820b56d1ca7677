import type { ServiceClient } from "svc-access/runtime";
import { IAMGroupService } from "../../../gen/svc/iam/v1/groups_pb.ts";
import { IAMGroupServiceRoutes } from "../../../gen/svc/iam/v1/groups_server.ts";
import { SubjectReferenceSchema } from "../../../gen/svc/iam/v1/relationship_pb.ts";
import { connect } from "../connection/connection.ts";
import { idOf, namedObject } from "../connection/names.ts";
import { subjectOf, type WrittenSubject } from "../connection/references.ts";
import { namesOf } from "../connection/shown-names.ts";
import { subjectText } from "../permissions/relationship-texts.ts";
import type { CallFlags, ListFlags } from "../run/flags.ts";
import { ifKnown } from "../run/if-known.ts";
import { readPages } from "../run/pages.ts";
import { printable, printJson } from "../run/print.ts";
import { printList, type Shown } from "../run/print-messages.ts";
import { EXIT, say } from "../run/run-command.ts";

/** The most members that are looked through for one. */
const MOST = 10_000;

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
  return change(given, member, flags, async (groups, request, isMember) => {
    const { revision } = await groups.addMember(request);
    const added = isMember === false ? "added to" : "is a member of";
    return { revision, done: isMember === true ? "is already a member of" : added };
  });
}

/** Removes a member from a group. @returns the exit code */
export function removeMember(given: string, member: string, flags: CallFlags): Promise<number> {
  return change(given, member, flags, async (groups, request, isMember) => {
    const { revision } = await groups.removeMember(request);
    const removed = isMember === true ? "removed from" : "is no longer a member of";
    return { revision, done: isMember === false ? "was not a member of" : removed };
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
  const nameOf = await namesOf(connection, format === "text" ? listed.items : []);
  const columns = [...MEMBERS.columns, ["NAME", nameOf] as const];
  await printList({ ...MEMBERS, columns }, listed, format);
  return EXIT.done;
}

interface MemberRequest {
  readonly organizationId: string;
  readonly groupId: string;
  readonly member: WrittenSubject;
}

type Groups = ServiceClient<typeof IAMGroupService>;

type Change = (
  groups: Groups,
  request: MemberRequest,
  isMember: boolean | undefined,
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
  const groups = connection.client(IAMGroupService, IAMGroupServiceRoutes);
  const changed = { ...member, relation: isGroup ? "member" : relation };
  const request = { organizationId, groupId, member: changed };
  const { revision, done } = await apply(groups, request, await isMemberOf(groups, request));
  if (format === "json") await printJson({ revision });
  else say(`${printable(text)} ${done} the group ${printable(given)}`);
  return EXIT.done;
}

/** Whether the member is one before the change, which does not say it; undefined if that cannot be known. */
async function isMemberOf(
  groups: Groups,
  { organizationId, groupId, member }: MemberRequest,
): Promise<boolean | undefined> {
  const text = subjectText(member);
  const listed = await ifKnown((signal) =>
    readPages(MOST, async (page) => {
      const found = await groups.listMembers({ ...page, organizationId, groupId }, { signal });
      return { items: found.members, next: found.nextPageToken };
    }),
  );
  if (listed === undefined) return undefined;
  if (listed.items.some((one) => subjectText(one) === text)) return true;
  return listed.hasMore ? undefined : false;
}
