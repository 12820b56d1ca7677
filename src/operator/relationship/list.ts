import { Command, Option } from "commander";
import { note, print } from "../../common/note.ts";
import { printable, printableJsonLine } from "../../common/printable.ts";
import type { Relationship } from "../../model/relationship.ts";
import { formatRelationship } from "../../model/relationship-text.ts";
import { wholeNumber } from "../command/flags.ts";
import { readSelection, type Selected, type SelectionFlags, withSelection } from "./selection.ts";

interface ListFlags extends SelectionFlags {
  readonly format: "text" | "json" | "ndjson";
  readonly limit?: number;
}

/** `svc-access relationship list`. */
export function listCommand(): Command {
  return withSelection(
    new Command("list").description("Lists stored relationships; the service must be stopped."),
  )
    .option("--limit <count>", "the maximum number of relationships", wholeNumber)
    .addOption(
      new Option("--format <format>", "the output format")
        .choices(["text", "json", "ndjson"])
        .default("text"),
    )
    .addHelpText(
      "after",
      `
Examples:
  svc-access relationship list --store notes.relationships.db --resource item:first
  svc-access relationship list --config service.yaml --subject user:alice --format ndjson
  SVC_ACCESS_STORE=postgres://… svc-access relationship list --model model.zed --misfit

Use the environment variable to keep a password out of the process list.
Exit codes: 0 listed, 1 --misfit found relationships, 2 usage, or a store that cannot be opened.`,
    )
    .action(list);
}

async function list({ format, limit = Number.POSITIVE_INFINITY, ...flags }: ListFlags) {
  const selection = await readSelection(flags);
  const { openStore } = await import("./open-embedded-store.ts");
  const store = await openStore(flags);
  let count = 0;
  try {
    if (format === "json") await print("[");
    reading: for await (const batch of store.load()) {
      for (const relationship of batch) {
        const selected = selection.select(relationship);
        if (selected === undefined) continue;
        if (count === limit) break reading;
        await print(lineOf(selected, format, count === 0));
        count++;
      }
    }
    if (format === "json") await print("]");
  } finally {
    await store.close();
  }
  note(
    `${count} relationship${count === 1 ? "" : "s"}${flags.misfit ? " that the model does not allow" : ""}`,
  );
  process.exitCode = flags.misfit && count > 0 ? 1 : 0;
}

function lineOf({ relationship, reason }: Selected, format: string, isFirst: boolean): string {
  if (format === "text") {
    const text = formatRelationship(relationship);
    return printable(reason === undefined ? text : `${text}: ${reason}`);
  }
  const json = printableJsonLine(documentOf(relationship, reason));
  return format === "json" && !isFirst ? `,${json}` : json;
}

function documentOf({ resource, relation, subject }: Relationship, reason: string | undefined) {
  return { resource, relation, subject, ...(reason === undefined ? {} : { reason }) };
}
