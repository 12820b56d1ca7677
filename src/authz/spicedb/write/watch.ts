import { setTimeout as sleep } from "node:timers/promises";
import type { v1 } from "@authzed/authzed-node";
import { titleOf } from "../../engine/asked-server.ts";
import { AuthzError } from "../../engine/authz-error.ts";
import type { CallOptions, Change, Revision } from "../../engine/requests.ts";
import { fromUpdate } from "../client/messages.ts";
import { isOwn, newestOf, type SpicedbSession } from "../client/session.ts";
import { revisionOf, zedTokenOf } from "../client/tokens.ts";

/** So that a server that ends each stream at once is not called without a pause. */
const PAUSE_MS = 50;

/**
 * The changes after a revision, as they happen. Without one, after the state at the time of
 * this call, or shortly after: SpiceDB is asked for it at once.
 *
 * SpiceDB reports a CREATE as a TOUCH. If the connection is lost, the iteration ends with
 * UNAVAILABLE; continue from the revision of the last change.
 */
export function watch(
  session: SpicedbSession,
  from: Revision | undefined,
  { signal }: CallOptions = {},
): AsyncIterable<Change> {
  const start = startOf(session, from, signal === undefined ? {} : { signal });
  // Reported when the changes are read, and not as an unhandled rejection before.
  start.catch(() => undefined);
  return changes(session, start, signal);
}

async function startOf(
  { connection }: SpicedbSession,
  from: Revision | undefined,
  options: CallOptions,
): Promise<string> {
  // Also if no state is requested: a call that is already stopped is refused.
  return connection.run(options, async ({ signal }) =>
    from === undefined ? newestOf({ connection }, signal) : zedTokenOf(from),
  );
}

/**
 * Ends the watch if SpiceDB does not answer: a stream without changes looks the same as one that
 * was never opened.
 */
async function requireAnswer(
  { connection }: SpicedbSession,
  caller: AbortSignal | undefined,
): Promise<void> {
  const options = caller === undefined ? {} : { signal: caller };
  try {
    await connection.run(options, ({ signal }) => newestOf({ connection }, signal));
  } catch (error) {
    const late = error instanceof AuthzError && error.code === "DEADLINE_EXCEEDED";
    if (!late || caller?.aborted) throw error;
    throw new AuthzError(
      "UNAVAILABLE",
      `${titleOf(connection.server)} gave no response during the watch`,
    );
  }
}

async function* changes(
  session: SpicedbSession,
  start: Promise<string>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Change> {
  const { connection } = session;
  let token = await start;
  for (;;) {
    const message: v1.WatchRequest = {
      optionalObjectTypes: [],
      optionalStartCursor: { token },
      optionalRelationshipFilters: [],
      optionalUpdateKinds: [],
    };
    const responses = connection.follow<v1.WatchResponse>(signal, (client, options) =>
      client.watch(message, options),
    );
    for await (const { updates, changesThrough } of responses) {
      if (changesThrough === undefined) continue;
      token = changesThrough.token;
      const own = updates
        .map(fromUpdate)
        .filter(({ relationship }) => isOwn(session, relationship));
      if (own.length > 0) yield { revision: revisionOf(token), updates: own };
    }
    await sleep(PAUSE_MS);
    await requireAnswer(session, signal);
  }
}
