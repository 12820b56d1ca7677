import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { toJson } from "@bufbuild/protobuf";
import { IAMAuthorizationService } from "../../../gen/svc/iam/v1/administration_pb.ts";
import { IAMAuthorizationServiceRoutes } from "../../../gen/svc/iam/v1/administration_server.ts";
import { RelationshipSchema } from "../../../gen/svc/iam/v1/relationship_pb.ts";
import { connect } from "../connection/connect.ts";
import { relationshipOf, type WrittenRelationship } from "../connection/references.ts";
import { CommandError } from "../run/command-error.ts";
import type { CallFlags } from "../run/flags.ts";
import { printable, printJson, printLine } from "../run/print.ts";
import { EXIT, say } from "../run/run-command.ts";
import { relationshipText } from "./relationship-texts.ts";
import { MOST, named } from "./relationships.ts";

/** The most relationships of an import: all of them are in memory. */
const MOST_LINES = 1_000_000;
const MAX_LINE = 2048;

/** Writes all visible relationships of some types to standard output. @returns the exit code */
export async function exportRelationships(
  flags: CallFlags & { readonly resource: readonly string[] },
): Promise<number> {
  const { resource: types, format } = flags;
  const wrong = types.find((type) => type.includes(":"));
  if (wrong !== undefined) {
    throw new CommandError(
      `--resource ${JSON.stringify(wrong)} is an object: name types, such as zone`,
    );
  }
  await using connection = await connect();
  const service = connection.client(IAMAuthorizationService, IAMAuthorizationServiceRoutes);
  let count = 0;
  for (const resourceType of types) {
    let pageToken = "";
    do {
      const page = await service.listRelationships({ resourceType, pageSize: MOST, pageToken });
      for (const relationship of page.relationships) {
        if (format === "json") await printJson(toJson(RelationshipSchema, relationship));
        else await printLine(printable(relationshipText(relationship)));
        count++;
      }
      pageToken = page.nextPageToken;
    } while (pageToken !== "");
  }
  say(`${count} relationship${count === 1 ? "" : "s"}`);
  return EXIT.done;
}

/** Writes the relationships of a file. @returns the exit code */
export async function importRelationships(file: string, { format }: CallFlags): Promise<number> {
  const written = await readLines(file);
  await using connection = await connect();
  const service = connection.client(IAMAuthorizationService, IAMAuthorizationServiceRoutes);
  const relationships = await named(connection, written);
  let count = 0;
  try {
    for (; count < relationships.length; count += MOST) {
      await service.writeRelationships({ relationships: relationships.slice(count, count + MOST) });
    }
  } catch (error) {
    say(`the first ${count} of ${relationships.length} relationships are written`);
    throw error;
  }
  const total = relationships.length;
  if (format === "json") await printJson({ count: total });
  else say(`${total} relationship${total === 1 ? "" : "s"} written`);
  return EXIT.done;
}

async function readLines(file: string): Promise<readonly WrittenRelationship[]> {
  const input = file === "-" ? process.stdin : createReadStream(file);
  const result: WrittenRelationship[] = [];
  let number = 0;
  try {
    for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
      number++;
      const text = line.trim();
      if (text === "" || text.startsWith("//")) continue;
      if (result.length === MOST_LINES) {
        throw new CommandError(`${file} has more than ${MOST_LINES} relationships: split it`);
      }
      result.push(atLine(file, number, text));
    }
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError(`${file} cannot be read: ${(error as Error).message}`);
  }
  return result;
}

function atLine(file: string, number: number, text: string): WrittenRelationship {
  try {
    return relationshipOf(text.slice(0, MAX_LINE));
  } catch (error) {
    throw new CommandError(`${file}:${number}: ${(error as Error).message}`);
  }
}
