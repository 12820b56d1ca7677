import type { JsonObject } from "@bufbuild/protobuf";
import { IAMAuditService } from "../../../gen/svc/iam/v1/audit_pb.ts";
import { IAMAuditServiceRoutes } from "../../../gen/svc/iam/v1/audit_server.ts";
import { connect } from "../connection/connection.ts";
import type { CallFlags, ListFlags } from "../run/flags.ts";
import { printJson, printLine, Table } from "../run/print.ts";
import { EXIT, say } from "../run/run-command.ts";
import { withinRate } from "../run/within-rate.ts";
import { EVENT_COLUMNS, formatEvent } from "./audit-event-text.ts";
import { type FilterFlags, namedFilter, readFilter } from "./audit-filter.ts";

/** The most events of a page. */
const PAGE = 500;

/** Shows events, newest first. @returns the exit code */
export async function queryEvents({ limit, ...flags }: ListFlags & FilterFlags): Promise<number> {
  const read = readFilter(flags);
  await using connection = await connect();
  const filter = await namedFilter(connection, read);
  const audit = connection.client(IAMAuditService, IAMAuditServiceRoutes);
  const table = new Table(EVENT_COLUMNS);
  let count = 0;
  let pageToken = "";
  // Page by page: events are large, and those of the first pages are a result although a later one may fail.
  do {
    const pageSize = Math.min(PAGE, limit - count);
    const query = { filter, pageSize, pageToken };
    const page = await withinRate(() => audit.listAuditEvents(query));
    if (flags.format === "json") for (const event of page.events) await printJson(event);
    else for (const line of table.linesOf(page.events)) await printLine(line);
    count += page.events.length;
    pageToken = page.nextPageToken;
  } while (pageToken !== "" && count < limit);
  if (count === 0 && flags.format === "text") say("no events");
  if (pageToken !== "") {
    say(`the ${count === 1 ? "newest event" : `newest ${count} events`}; --limit shows more`);
  }
  return EXIT.done;
}

/** Writes all events, the oldest first. @returns the exit code */
export async function exportEvents(flags: CallFlags & FilterFlags): Promise<number> {
  const read = readFilter(flags);
  await using connection = await connect();
  const filter = await namedFilter(connection, read);
  const audit = connection.client(IAMAuditService, IAMAuditServiceRoutes);
  let count = 0;
  for await (const { event } of audit.exportAuditEvents({ filter })) {
    await printEvent(event ?? {}, flags);
    count++;
  }
  say(`${count} event${count === 1 ? "" : "s"}`);
  return EXIT.done;
}

/** Shows events as they are stored, until a signal. @returns the exit code */
export async function followEvents(
  flags: CallFlags & FilterFlags & { readonly position?: string },
): Promise<number> {
  const read = readFilter(flags);
  await using connection = await connect();
  const filter = await namedFilter(connection, read);
  const audit = connection.client(IAMAuditService, IAMAuditServiceRoutes);
  const signal = interrupted();
  let { position = "" } = flags;
  let isPrinted = false;
  while (!signal.aborted) {
    try {
      // A stream may end before its first event: the next one must not begin at a later now.
      const query = { filter, position, positionOfStart: position === "" };
      for await (const next of audit.followAuditEvents(query, { signal })) {
        position = next.position;
        if (next.event === undefined) continue;
        isPrinted = true;
        if (flags.format === "json") await printJson({ event: next.event, position });
        else await printLine(formatEvent(next.event));
      }
    } catch (error) {
      // A stream has a limit of time: the next one continues after the last position.
      const { code } = error as { code?: string };
      if (signal.aborted || code === "DEADLINE_EXCEEDED") continue;
      // JSON has it on each line of an event, and who named the position knows it.
      const isKnown = flags.format === "json" && isPrinted;
      if (!isKnown && position !== (flags.position ?? "")) {
        say(`--position ${position} continues after ${isPrinted ? "the last event" : "the start"}`);
      }
      throw error;
    }
  }
  return EXIT.done;
}

function printEvent(event: JsonObject, { format }: CallFlags): Promise<void> {
  return format === "json" ? printJson(event) : printLine(formatEvent(event));
}

/** Aborts at the first signal; a second one ends the process. */
function interrupted(): AbortSignal {
  const controller = new AbortController();
  for (const name of ["SIGINT", "SIGTERM"] as const) {
    process.once(name, () => controller.abort());
  }
  return controller.signal;
}
