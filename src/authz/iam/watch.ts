import { setTimeout as sleep } from "node:timers/promises";
import type { WatchRelationshipsResponse } from "../../gen/proto/svc/iam/v1/permission_pb.ts";
import { abortError } from "../engine/abort-error.ts";
import { titleOf } from "../engine/asked-server.ts";
import { AuthzError } from "../engine/authz-error.ts";
import type { CallOptions, Change, Revision } from "../engine/requests.ts";
import { mapCallError } from "./map-error.ts";
import { fromUpdate } from "./messages.ts";
import { assertRevision, type IamSession } from "./session.ts";

/** IAM is never silent for so long: then its peer has gone without closing the connection. */
const SILENCE_MS = 10_000;
/** So that a server that ends each stream at once is not called without a pause. */
const PAUSE_MS = 50;

/**
 * The changes after a revision, as they happen. Without one, after the state at the time of this call,
 * or shortly after: IAM is asked for it at once.
 *
 * @throws AuthzError UNAVAILABLE if the connection is lost; continue from the revision of the last change
 */
export function watch(
  session: IamSession,
  from: Revision | undefined,
  options: CallOptions = {},
): AsyncIterable<Change> {
  const start = startOf(session, from, options);
  // Reported when the changes are read, and not as an unhandled rejection before.
  start.catch(() => undefined);
  return changes(session, start, options.signal);
}

async function startOf(
  session: IamSession,
  from: Revision | undefined,
  options: CallOptions,
): Promise<Revision> {
  // Also if no state is asked for: a call that is already stopped is refused.
  return session.run({ ...options, newest: true }, async (call) => {
    if (from !== undefined) {
      assertRevision(from);
      return from;
    }
    const { revision } = await session.read(call, (consistency, rpc) =>
      session.calls.checkBulkPermissions(consistency === undefined ? {} : { consistency }, rpc),
    );
    return revision;
  });
}

async function* changes(
  session: IamSession,
  start: Promise<Revision>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Change> {
  let revision = await start;
  const { definitions } = session.model;
  for (;;) {
    for await (const news of follow(session, revision, signal)) {
      // One without updates comes after changes that this service may not read, or has none.
      if (news.revision !== "") ({ revision } = news);
      if (news.updates.length === 0) continue;
      const updates = news.updates
        .map(fromUpdate)
        .filter(({ relationship }) => definitions.has(relationship.resource.type));
      if (updates.length > 0) yield { revision, updates };
    }
    await sleep(PAUSE_MS);
  }
}

/** Reads one stream to its end: IAM ends streams of a certain age. */
async function* follow(
  session: IamSession,
  fromRevision: Revision,
  caller: AbortSignal | undefined,
): AsyncGenerator<WatchRelationshipsResponse> {
  const { stop, release } = session.running.begin(caller);
  const { signal } = stop;
  const responses = session.calls
    .watchRelationships({ fromRevision }, { signal, timeoutMs: Number.POSITIVE_INFINITY })
    [Symbol.asyncIterator]();
  const silent = () =>
    new AuthzError("UNAVAILABLE", `${titleOf(session.server)} gave no response during the watch`);
  try {
    for (;;) {
      const timer = setTimeout(() => stop.abort(silent()), SILENCE_MS);
      const next = await responses.next().finally(() => clearTimeout(timer));
      if (next.done === true) return;
      yield next.value;
    }
  } catch (error) {
    if (signal.aborted) throw abortError(signal);
    const failure = mapCallError(error, session.server);
    if (failure.code !== "DEADLINE_EXCEEDED") throw failure;
  } finally {
    release();
    stop.abort();
  }
}
