import { IAMAuthorizationService } from "../../../gen/svc/iam/v1/administration_pb.ts";
import { IAMAuthorizationServiceRoutes } from "../../../gen/svc/iam/v1/administration_server.ts";
import { RelationshipSchema } from "../../../gen/svc/iam/v1/relationship_pb.ts";
import { connect } from "../connection/connection.ts";
import { CommandError } from "../run/command-error.ts";
import type { CallFlags } from "../run/flags.ts";
import { printable, printJson, printLine } from "../run/print.ts";
import { jsonOf } from "../run/print-messages.ts";
import { EXIT, say } from "../run/run-command.ts";
import { withinRate } from "../run/within-rate.ts";
import { NEWEST } from "./newest.ts";
import { relationshipText } from "./relationship-texts.ts";
import { MOST } from "./relationships.ts";

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
      const query = { resourceType, pageSize: MOST, pageToken, consistency: NEWEST };
      const page = await withinRate(() => service.listRelationships(query));
      for (const relationship of page.relationships) {
        if (format === "json") await printJson(jsonOf(RelationshipSchema, relationship));
        else await printLine(printable(relationshipText(relationship)));
        count++;
      }
      pageToken = page.nextPageToken;
    } while (pageToken !== "");
  }
  say(`${count} relationship${count === 1 ? "" : "s"}`);
  return EXIT.done;
}
