import { Command } from "commander";
import { callCommand, listCommand } from "../run/flags.ts";
import { runCommand } from "../run/run-command.ts";

const load = () => import("./relationships.ts");
const loadExport = () => import("./export.ts");
const loadImport = () => import("./import.ts");

/** The commands `svc-iam relationship …`. */
export function relationshipCommand(): Command {
  const group = new Command("relationship")
    .description("List, write and delete relationships: what people and programs may do.")
    .addHelpText(
      "after",
      `
A relationship is type:id#relation@type:id, or …@type:id#relation for all who hold a relation. A user is named
by its id, user name or e-mail address, a group or service account by its id or name.

Examples:
  svc-iam relationship list --resource zone:acme
  svc-iam relationship write zone:acme#user_manager@user:alice
  svc-iam relationship export --resource zone group > relationships.txt`,
    );
  group.addCommand(
    listCommand(
      new Command("list")
        .description("List the relationships that you may see.")
        .requiredOption("--resource <type[:id]>", "of this type, or of this object")
        .option("--relation <name>", "of this relation"),
    )
      .addHelpText(
        "after",
        `
Examples:
  svc-iam relationship list --resource zone:acme --relation owner

Exit codes: 0 listed, 2 usage, or a server that refuses or does not answer.`,
      )
      .action((flags) => runCommand(async () => (await load()).listRelationships(flags))),
  );
  group.addCommand(
    callCommand(
      new Command("write")
        .description("Write relationships, all or none. Existing ones stay as they are.")
        .argument("<relationship...>", "up to 1,000")
        .option("--create", "refuse those that exist"),
    )
      .addHelpText(
        "after",
        `
Examples:
  svc-iam relationship write zone:acme#user_manager@user:alice
  svc-iam relationship write 'project:etl#viewer@group:Engineers#member' --create

Exit codes: 0 written, 2 usage, or a server that refuses or does not answer.`,
      )
      .action((texts: readonly string[], flags) =>
        runCommand(async () => (await load()).writeRelationships(texts, flags)),
      ),
  );
  group.addCommand(
    callCommand(
      new Command("delete")
        .description("Delete relationships, all or none.")
        .argument("<relationship...>", "up to 1,000"),
    )
      .addHelpText(
        "after",
        `
Examples:
  svc-iam relationship delete zone:acme#user_manager@user:alice

Exit codes: 0 deleted, or they did not exist; 2 usage, or a server that refuses or does not answer.`,
      )
      .action((texts: readonly string[], flags) =>
        runCommand(async () => (await load()).deleteRelationships(texts, flags)),
      ),
  );
  group.addCommand(exportCommand());
  group.addCommand(importCommand());
  return group;
}

function exportCommand(): Command {
  return callCommand(
    new Command("export")
      .description("Write all relationships that you may see, one a line, with ids.")
      .requiredOption("--resource <type...>", "of these types"),
  )
    .addHelpText(
      "after",
      `
The lines are those that import reads, also as JSON: a relationship as an object on each line.

Examples:
  svc-iam relationship export --resource zone group > relationships.txt

Exit codes: 0 all were written, 2 usage, or a server that refuses or does not answer.`,
    )
    .action((flags) => runCommand(async () => (await loadExport()).exportRelationships(flags)));
}

function importCommand(): Command {
  return callCommand(
    new Command("import")
      .description("Write the relationships of a file, one a line, 1,000 at once.")
      .argument("<file>", "the file, or - for standard input"),
  )
    .addHelpText(
      "after",
      `
The file is an export, as text or JSON. Empty lines and those that begin with // or # are left out. All lines are
read before the first is written. If the server refuses a line, the message names it, and those before it are
written. An import that is repeated changes nothing more.

The zone and the parent of a group are not written so. Leave such lines of an export out, and make the groups first,
with svc-iam group create --parent or svc-iam group move. Of an export as text:

  grep -v '^group:[^#]*#\\(zone\\|parent\\)@' relationships.txt

Of an export as JSON:

  jq -c 'select(.resource.type != "group" or (.relation != "zone" and .relation != "parent"))' relationships.ndjson

Examples:
  svc-iam relationship import relationships.txt

Exit codes: 0 written, 2 usage, or a server that refuses or does not answer.`,
    )
    .action((file: string, flags) =>
      runCommand(async () => (await loadImport()).importRelationships(file, flags)),
    );
}
