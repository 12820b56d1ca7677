import {
  type AccessEntry,
  AccessEntrySchema,
  IAMAuthorizationService,
} from "../../../gen/svc/iam/v1/administration_pb.ts";
import { IAMAuthorizationServiceRoutes } from "../../../gen/svc/iam/v1/administration_server.ts";
import { connect } from "../connection/connection.ts";
import { namedObject } from "../connection/names.ts";
import { objectOf, permissionOf, typeOf } from "../connection/references.ts";
import { namesOf } from "../connection/shown-names.ts";
import { CommandError } from "../run/command-error.ts";
import type { ListFlags } from "../run/flags.ts";
import { readPages } from "../run/pages.ts";
import { printList, type Shown } from "../run/print-messages.ts";
import { EXIT, say } from "../run/run-command.ts";
import { NEWEST } from "./newest.ts";
import { relationshipText, subjectText } from "./relationship-texts.ts";

/** The flags of `svc-iam who-can`. */
export interface WhoCanFlags extends ListFlags {
  readonly type?: string;
}

const entriesWith = (
  nameOf: (subject: AccessEntry["subject"]) => string,
): Shown<typeof AccessEntrySchema> => ({
  schema: AccessEntrySchema,
  name: ["entry", "entries"],
  columns: [
    ["SUBJECT", ({ subject }) => subjectText(subject)],
    ["NAME", ({ subject }) => nameOf(subject)],
    ["PATH", pathText],
  ],
});

/** Lists who holds a permission. @returns the exit code */
export async function whoCan(
  permissionText: string,
  resourceText: string,
  { type, limit, format }: WhoCanFlags,
): Promise<number> {
  const permission = permissionOf(permissionText);
  const written = objectOf(resourceText);
  const subjectType = type === undefined ? "" : typeOf("--type", type);
  await using connection = await connect();
  const service = connection.client(IAMAuthorizationService, IAMAuthorizationServiceRoutes);
  const resource = await namedObject(connection, written);
  let isIncomplete = false;
  const listed = await readPages<AccessEntry>(limit, async (page) => {
    const found = await service.listAccess({
      ...page,
      ...{ resource, permission, subjectType, consistency: NEWEST },
    });
    isIncomplete ||= found.incomplete;
    return { items: found.entries, next: found.nextPageToken };
  });
  if (isIncomplete && listed.items.length === 0) {
    throw new CommandError(
      "whether anybody holds it is not known, since the server follows at most 10,000 relationships: ask with svc-iam check",
    );
  }
  const subjects = format === "text" ? listed.items.map(({ subject }) => subject) : [];
  await printList(entriesWith(await namesOf(connection, subjects)), listed, format);
  if (isIncomplete) say("there may be more: the server follows at most 10,000 relationships");
  return listed.items.length > 0 ? EXIT.done : EXIT.no;
}

function pathText({ path, notShown }: AccessEntry): string {
  const steps = path.map(relationshipText);
  return [...steps, ...(notShown === "" ? [] : [notShown])].join(", ");
}
