import { Command, Option } from "commander";
import { note, print } from "../../common/note.ts";
import { printableJson, printableJsonLine } from "../../common/printable.ts";
import { MAX_AUDIT_PAGE } from "../../runtime/audit/log/audit-log.ts";
import { wholeNumber } from "../command/flags.ts";
import { type FilterFlags, filterOf, withFilter } from "./filter-flags.ts";
import { formatEvent } from "./format-event.ts";

interface ListFlags extends FilterFlags {
  readonly limit: number;
  readonly cursor?: string;
  readonly format: "text" | "json" | "ndjson";
}

/** `svc-access audit list`. */
export function listCommand(): Command {
  return withFilter(new Command("list").description("Lists audit events, newest first."))
    .option(
      "--limit <count>",
      `the maximum number of events (at most ${MAX_AUDIT_PAGE})`,
      wholeNumber,
      50,
    )
    .option("--cursor <cursor>", "continue a listing with the same filter")
    .addOption(
      new Option("--format <format>", "the output format")
        .choices(["text", "json", "ndjson"])
        .default("text"),
    )
    .addHelpText(
      "after",
      `
Examples:
  svc-access audit list --config service.yaml --from 1h --decision denied
  svc-access audit list --store notes.db --principal user:alice --resource item:first
  SVC_ACCESS_STORE=postgres://… svc-access audit list --risk-level CRITICAL --format json

The service may run. Use the environment variable to keep a password out of the process list.
Exit codes: 0 listed (even if there are none), 2 usage, or a database that cannot be read.`,
    )
    .action(list);
}

async function list({ limit, cursor, format, ...flags }: ListFlags): Promise<void> {
  const filter = filterOf(flags);
  const { openLog } = await import("./open-log.ts");
  const log = await openLog(flags);
  try {
    const page = { pageSize: limit, ...(cursor === undefined ? {} : { cursor }) };
    const { events, nextCursor } = await log.list(filter, page);
    if (format === "json") {
      await print(printableJson({ events, next_cursor: nextCursor }));
      return;
    }
    for (const event of events) {
      await print(format === "text" ? formatEvent(event) : printableJsonLine(event));
    }
    if (nextCursor !== undefined) note(`there are more: --cursor ${nextCursor}`);
  } finally {
    await log.close();
  }
}
