import { setTimeout as sleep } from "node:timers/promises";
import { Command, Option } from "commander";
import { note, print } from "../../common/note.ts";
import { printableJsonLine } from "../../common/printable.ts";
import type { AuditEvent } from "../../runtime/audit/event/audit-event.ts";
import type { AuditFilter } from "../../runtime/audit/log/audit-filter.ts";
import type { OpenedAuditLog } from "../../runtime/audit/log/open-audit-log.ts";
import { OperatorError } from "../command/flags.ts";
import { type FilterFlags, filterOf, withFilter } from "./filter-flags.ts";
import { formatEvent } from "./format-event.ts";
import { PositionFile } from "./position-file.ts";

interface FollowFlags extends FilterFlags {
  readonly fromStart?: boolean;
  readonly positionFile?: string;
  readonly format: "text" | "ndjson";
}

/** The pause while the database does not answer, in milliseconds. */
const PAUSE = 2000;

/** `svc-access audit follow`. */
export function followCommand(): Command {
  return withFilter(
    new Command("follow").description(
      "Prints audit events as they are stored and completed, until interrupted.",
    ),
  )
    .option("--from-start", "start with the first event that is kept, not with the next one")
    .option("--position-file <file>", "continue after the position in this file, and update it")
    .addOption(
      new Option("--format <format>", "the output format")
        .choices(["text", "ndjson"])
        .default("text"),
    )
    .addHelpText(
      "after",
      `
Examples:
  svc-access audit follow --config service.yaml --risk-level CRITICAL
  svc-access audit follow --store notes.db --from-start --position-file archive.position --format ndjson >> archive.ndjson

With --from, it starts with the events since that time, or continues after the position. It prints an
event when it is stored and again, with the same id, when it is completed. It waits while the database
does not answer. With a position file it misses no events, but may repeat some after a crash.
Exit codes: 0 interrupted, 2 usage, or a database that cannot be read at the start.`,
    )
    .action(follow);
}

async function follow({ fromStart, positionFile, format, ...flags }: FollowFlags): Promise<void> {
  const filter = filterOf(flags);
  const positions = positionFile === undefined ? undefined : new PositionFile(positionFile);
  const after = positions?.read();
  if (fromStart && after !== undefined) {
    throw new OperatorError(
      `--from-start cannot be combined with the position in ${positionFile}: remove one of them`,
    );
  }
  const { openLog, interrupted } = await import("./open-log.ts");
  const signal = interrupted();
  const log = await openLog(flags);
  try {
    // The filter excludes events before that time.
    const isFromStart = fromStart || (after === undefined && flags.from !== undefined);
    const start: Start = isFromStart
      ? { from: "start" }
      : { after: after ?? (await log.position()) };
    // The position is stored even if no event follows.
    if ("after" in start) positions?.keep(start.after);
    const print: Print = format === "text" ? printText : printLine;
    await followOn(log, filter, { start, signal, positions, print });
  } finally {
    positions?.flush();
    await log.close();
  }
}

type Print = (event: AuditEvent) => Promise<void>;
type Start = { readonly from: "start" } | { readonly after: string };

interface Following {
  readonly start: Start;
  readonly signal: AbortSignal;
  readonly positions: PositionFile | undefined;
  readonly print: Print;
}

/** Follows the events, and continues from the last position after the database was unavailable. */
async function followOn(
  log: OpenedAuditLog,
  filter: AuditFilter,
  { start, signal, positions, print }: Following,
): Promise<void> {
  let at: Start = start;
  let isAway = false;
  while (!signal.aborted) {
    try {
      for await (const { event, position } of log.follow(filter, { ...at, signal })) {
        isAway = false;
        await print(event);
        at = { after: position };
        positions?.keep(position);
      }
    } catch (error) {
      const { code, cause } = error as { code?: string; cause?: { code?: string } };
      // This state is permanent: the file was replaced, or can no longer be read.
      if (cause?.code === "FAILED_PRECONDITION") throw cause;
      if (code !== "UNAVAILABLE") throw positions?.explain(error) ?? error;
      if (!isAway) note("the database does not answer; waiting for it");
      isAway = true;
      await sleep(PAUSE, undefined, { signal }).catch(() => undefined);
    }
  }
}

function printText(event: AuditEvent): Promise<void> {
  return print(formatEvent(event));
}

function printLine(event: AuditEvent): Promise<void> {
  return print(printableJsonLine(event));
}
