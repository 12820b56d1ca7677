import type { v1 } from "@authzed/authzed-node";
import type { CallOptions, Change, Revision } from "../engine.ts";
import { fromUpdate } from "./messages.ts";
import { revisionOf, zedTokenOf } from "./revision.ts";
import { headOf, type Session } from "./session.ts";

/**
 * The changes behind a revision, as they happen. Without one, behind the state at the time of
 * this call, or shortly after: SpiceDB is asked for it at once.
 *
 * SpiceDB tells of a CREATE as a TOUCH. Where the connection is lost the iteration ends with
 * UNAVAILABLE; the revision of the last change goes on from there.
 */
export function watch(
  session: Session,
  from: Revision | undefined,
  { signal }: CallOptions = {},
): AsyncIterable<Change> {
  const start = startOf(session, from, signal);
  // Reported when the changes are read, and not as an unhandled rejection before.
  start.catch(() => undefined);
  return changes(session, start, signal);
}

async function startOf(
  session: Session,
  from: Revision | undefined,
  signal: AbortSignal | undefined,
): Promise<string> {
  return from === undefined ? headOf(session, signal) : zedTokenOf(from);
}

async function* changes(
  { connection }: Session,
  start: Promise<string>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Change> {
  const message: v1.WatchRequest = {
    optionalObjectTypes: [],
    optionalStartCursor: { token: await start },
    optionalRelationshipFilters: [],
    optionalUpdateKinds: [],
  };
  const responses = connection.follow<v1.WatchResponse>(signal, () =>
    connection.client.watch(message),
  );
  for await (const { updates, changesThrough } of responses) {
    if (updates.length === 0 || changesThrough === undefined) continue;
    yield { revision: revisionOf(changesThrough.token), updates: updates.map(fromUpdate) };
  }
}
