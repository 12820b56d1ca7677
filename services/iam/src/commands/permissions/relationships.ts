import { IAMAuthorizationService } from "../../../gen/svc/iam/v1/administration_pb.ts";
import { IAMAuthorizationServiceRoutes } from "../../../gen/svc/iam/v1/administration_server.ts";
import {
  type Relationship,
  RelationshipSchema,
  WriteMode,
} from "../../../gen/svc/iam/v1/relationship_pb.ts";
import { type Connection, connect } from "../connection/connection.ts";
import { namedObject } from "../connection/names.ts";
import {
  objectOf,
  permissionOf,
  relationshipOf,
  type WrittenRelationship,
} from "../connection/references.ts";
import { namesOf } from "../connection/shown-names.ts";
import { CommandError } from "../run/command-error.ts";
import type { CallFlags, ListFlags } from "../run/flags.ts";
import { readPages } from "../run/pages.ts";
import { type Column, printJson } from "../run/print.ts";
import { printList } from "../run/print-messages.ts";
import { advising } from "../run/refusal.ts";
import { EXIT, say } from "../run/run-command.ts";
import { countExisting } from "./existing.ts";
import { NEWEST } from "./newest.ts";
import { objectText, subjectText } from "./relationship-texts.ts";

/** The most relationships of one write. */
export const MOST = 1000;

/** The flags of `svc-iam relationship list`. */
export interface RelationshipListFlags extends ListFlags {
  readonly resource: string;
  readonly relation?: string;
}

const COLUMNS: readonly Column<Relationship>[] = [
  ["RESOURCE", ({ resource }) => objectText(resource)],
  ["RELATION", ({ relation }) => relation],
  ["SUBJECT", ({ subject }) => subjectText(subject)],
];

/** Lists relationships. @returns the exit code */
export async function listRelationships(flags: RelationshipListFlags): Promise<number> {
  const { resource, relation: given, limit, format } = flags;
  const relation = given === undefined ? "" : permissionOf(given);
  const hasId = resource.includes(":");
  const written = hasId ? objectOf(resource) : { type: resource, id: "" };
  await using connection = await connect();
  const { type: resourceType, id: resourceId } = hasId
    ? await namedObject(connection, written)
    : written;
  const service = connection.client(IAMAuthorizationService, IAMAuthorizationServiceRoutes);
  const listed = await readPages(limit, async (page) => {
    const query = { ...page, resourceType, resourceId, relation, consistency: NEWEST };
    const found = await service.listRelationships(query);
    return { items: found.relationships, next: found.nextPageToken };
  });
  const name = ["relationship", "relationships"] as const;
  const subjects = format === "text" ? listed.items.map(({ subject }) => subject) : [];
  const nameOf = await namesOf(connection, subjects);
  const columns: typeof COLUMNS = [...COLUMNS, ["NAME", ({ subject }) => nameOf(subject)]];
  await printList({ schema: RelationshipSchema, columns, name }, listed, format);
  return EXIT.done;
}

/** The flags of `svc-iam relationship write`. */
export interface WriteFlags extends CallFlags {
  readonly create?: boolean;
}

/** Writes relationships. @returns the exit code */
export async function writeRelationships(
  texts: readonly string[],
  { create = false, format }: WriteFlags,
): Promise<number> {
  const written = readTexts(texts);
  await using connection = await connect();
  const service = connection.client(IAMAuthorizationService, IAMAuthorizationServiceRoutes);
  const relationships = await named(connection, written);
  const mode = create ? WriteMode.CREATE : WriteMode.TOUCH;
  const write = service.writeRelationships({ relationships, mode });
  const advice = "leave out --create to keep those that exist";
  const { revision } = await advising(write, "ALREADY_EXISTS", advice);
  await reportCount(relationships.length, "written", revision, format);
  return EXIT.done;
}

/** Deletes relationships. @returns the exit code */
export async function deleteRelationships(
  texts: readonly string[],
  { format }: CallFlags,
): Promise<number> {
  const written = readTexts(texts);
  await using connection = await connect();
  const service = connection.client(IAMAuthorizationService, IAMAuthorizationServiceRoutes);
  const deletions = await named(connection, written);
  const { existing, unknown } = await countExisting(connection, deletions);
  const { revision } = await service.writeRelationships({ deletions });
  const absent = deletions.length - existing - unknown;
  const doubts = [
    ...(absent === 0 ? [] : [`${countText(absent, deletions)} did not exist`]),
    ...(unknown === 0 ? [] : [`whether ${countText(unknown, deletions)} existed is not known`]),
  ];
  const done = ["deleted", ...(doubts.length === 0 ? [] : [doubts.join(", ")])].join(": ");
  await reportCount(existing + unknown, done, revision, format);
  return EXIT.done;
}

/** How many of some relationships. */
function countText(count: number, { length }: readonly WrittenRelationship[]): string {
  return count === 1 && length === 1 ? "it" : String(count);
}

/** Relationships with the ids that their names stand for; each name is looked up once. */
export async function named(
  connection: Connection,
  written: readonly WrittenRelationship[],
): Promise<WrittenRelationship[]> {
  const known = new Map<string, string>();
  const withId = async <Object extends WrittenRelationship["resource"]>(object: Object) => {
    const key = `${object.type}:${object.id}`;
    const id = known.get(key) ?? (await namedObject(connection, object)).id;
    known.set(key, id);
    return { ...object, id };
  };
  const result: WrittenRelationship[] = [];
  for (const { resource, relation, subject } of written) {
    result.push({ resource: await withId(resource), relation, subject: await withId(subject) });
  }
  return result;
}

function readTexts(texts: readonly string[]): readonly WrittenRelationship[] {
  if (texts.length <= MOST) return texts.map(relationshipOf);
  throw new CommandError(
    `one write has at most ${MOST} relationships: use svc-iam relationship import`,
  );
}

async function reportCount(
  count: number,
  done: string,
  revision: string,
  format: CallFlags["format"],
): Promise<void> {
  if (format === "json") await printJson({ count, revision });
  else say(`${count} relationship${count === 1 ? "" : "s"} ${done}`);
}
