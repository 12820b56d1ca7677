import { Command, Option } from "commander";
import { note, print } from "../../common/note.ts";
import { printableJsonLine } from "../../common/printable.ts";
import { type FilterFlags, filterOf, withFilter } from "./filter-flags.ts";
import { formatEvent } from "./format-event.ts";

interface ExportFlags extends FilterFlags {
  readonly order: "oldest" | "newest";
  readonly format: "text" | "json" | "ndjson";
}

/** The number of events between progress reports on a terminal. */
const PROGRESS = 10_000;

/** `svc-access audit export`. */
export function exportCommand(): Command {
  return withFilter(
    new Command("export").description("Writes all matching audit events to standard output."),
  )
    .addOption(
      new Option("--order <order>", "the order of the events")
        .choices(["oldest", "newest"])
        .default("oldest"),
    )
    .addOption(
      new Option("--format <format>", "the output format")
        .choices(["ndjson", "json", "text"])
        .default("ndjson"),
    )
    .addHelpText(
      "after",
      `
Examples:
  svc-access audit export --store notes.db --from 2026-11-01 --to 2026-12-01 > november.ndjson
  svc-access audit export --config service.yaml --decision denied --order newest --format text

The service may run. The export has all events that are stored when it begins.
Exit codes: 0 all events were written, 1 interrupted, 2 usage, or a database that cannot be
read.`,
    )
    .action(exportAll);
}

async function exportAll({ order, format, ...flags }: ExportFlags): Promise<void> {
  const filter = filterOf(flags);
  const { openLog, interrupted } = await import("./open-log.ts");
  const log = await openLog(flags);
  const signal = interrupted();
  let count = 0;
  try {
    if (format === "json") await print("[");
    for await (const event of log.export(filter, { order, signal })) {
      const line = format === "text" ? formatEvent(event) : printableJsonLine(event);
      await print(format === "json" && count > 0 ? `,${line}` : line);
      count++;
      if (count % PROGRESS === 0 && process.stderr.isTTY) note(`${count} events`);
    }
    if (format === "json") await print("]");
  } finally {
    await log.close();
  }
  note(`${count} event${count === 1 ? "" : "s"}${signal.aborted ? ", then interrupted" : ""}`);
  process.exitCode = signal.aborted ? 1 : 0;
}
