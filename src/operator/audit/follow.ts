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

/** How long it waits where the database is away, in milliseconds. */
const PAUSE = 2000;

/** `svc-access audit follow`. */
export function followCommand(): Command {
  return withFilter(
    new Command("follow").description(
      "Prints audit events as they are stored and completed, until it is interrupted.",
    ),
  )
    .option("--from-start", "begin with the first event that is kept, not with the next one")
    .option("--position-file <file>", "go on after the position in this file, and keep it there")
    .addOption(
      new Option("--format <format>", "how they are printed")
        .choices(["text", "ndjson"])
        .default("text"),
    )
    .addHelpText(
      "after",
      `
Examples:
  svc-access audit follow --config service.yaml --risk-level CRITICAL
  svc-access audit follow --store notes.db --from-start --position-file archive.position --format ndjson >> archive.ndjson

With --from it begins with what is stored since that time, or goes on after the position.
An event comes when it is stored and again when it is completed, under one id. Where the database is
away it waits. With a position file nothing is missed; what was printed in the moment of a crash may come again.
Exit codes: 0 interrupted, 2 usage, or a database that cannot be read when it begins.`,
    )
    .action(follow);
}

async function follow({ fromStart, positionFile, format, ...flags }: FollowFlags): Promise<void> {
  const filter = filterOf(flags);
  const positions = positionFile === undefined ? undefined : new PositionFile(positionFile);
  const after = positions?.read();
  if (fromStart && after !== undefined) {
    throw new OperatorError(
      `--from-start and the position in ${positionFile} exclude each other: remove one of them`,
    );
  }
  const { openLog, interrupted } = await import("./open-log.ts");
  const signal = interrupted();
  const log = await openLog(flags);
  try {
    // The filter leaves out what was before that time.
    const isFromStart = fromStart || (after === undefined && flags.from !== undefined);
    const start: Start = isFromStart
      ? { from: "start" }
      : { after: after ?? (await log.position()) };
    // Also where nothing happens before it ends.
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

/** Goes on from the last position where the database was away. */
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
      // That does not end by itself: the file was replaced, or may not be read any more.
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
