import type { v1 } from "@authzed/authzed-node";
import { formatRelationship } from "../../../model/relationship-text.ts";
import { AuthzError } from "../../engine/authz-error.ts";
import type {
  CallOptions,
  Precondition,
  RelationshipUpdate,
  Revision,
  WriteRequest,
} from "../../engine/requests.ts";
import { atExactly } from "../client/freshness.ts";
import { fromRelationship, toPrecondition, toUpdate } from "../client/messages.ts";
import { newestOf, type SpicedbSession } from "../client/session.ts";
import { isStored, readStored } from "../client/stored-relationships.ts";
import { revisionOf } from "../client/tokens.ts";
import { findClosedCycle, type ReadSubjects } from "./find-closed-cycle.ts";

/** The most steps of a cycle that a message names. */
const SHOWN = 12;

/** Writes relationships atomically; a write that would close a cycle is refused before. */
export async function writeRelationships(
  session: SpicedbSession,
  request: WriteRequest,
  { signal }: CallOptions = {},
): Promise<{ revision: Revision }> {
  session.validator.write(request);
  await refuseCycle(session, request, signal);

  const { connection, freshness } = session;
  const message: v1.WriteRelationshipsRequest = {
    updates: request.updates.map(toUpdate),
    optionalPreconditions: (request.preconditions ?? []).map(toPrecondition),
  };
  const written = freshness.write();
  let zedToken: string | undefined;
  try {
    const response = await connection.unary<v1.WriteRelationshipsResponse>(
      "write",
      signal,
      (options, done) => connection.client.writeRelationships(message, options, done),
    );
    zedToken = response.writtenAt?.token;
  } finally {
    // Also after a failure: maybe only the response was lost.
    written(zedToken);
  }
  return { revision: revisionOf(zedToken ?? "") };
}

async function refuseCycle(
  session: SpicedbSession,
  { updates, preconditions = [] }: WriteRequest,
  signal: AbortSignal | undefined,
): Promise<void> {
  let head: Promise<string> | undefined;
  const read: ReadSubjects = async (resource, { relation, subjectType, subjectRelation }) => {
    // Requested only if the model allows the write to close a cycle at all.
    head ??= newestOf(session, signal);
    const filter = {
      resourceType: resource.type,
      resourceId: resource.id,
      relation,
      subject: {
        type: subjectType,
        ...(subjectRelation === undefined ? {} : { relation: subjectRelation }),
      },
    };
    const stored = await readStored(session, filter, atExactly(await head), signal);
    return stored.map(({ relationship }) => fromRelationship(relationship).subject);
  };
  const path = await findClosedCycle(session.model, updates, read);
  if (path === undefined) return;
  head ??= newestOf(session, signal);
  await requireAll(session, preconditions, await head, signal);
  await refuseExisting(session, updates, await head, signal);
  if (path.length > SHOWN) {
    path.splice(SHOWN / 2, path.length - SHOWN, `… ${path.length - SHOWN} more …`);
  }
  throw new AuthzError("FAILED_PRECONDITION", `the write would close a cycle: ${path.join(" > ")}`);
}

/** A precondition that fails is reported first of all, as SpiceDB would report it. */
async function requireAll(
  session: SpicedbSession,
  preconditions: readonly Precondition[],
  head: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  for (const { kind, filter } of preconditions) {
    const matches = await isStored(session, filter, atExactly(head), signal);
    if (matches === (kind === "MUST_MATCH")) continue;
    throw new AuthzError(
      "FAILED_PRECONDITION",
      `the precondition ${kind} ${JSON.stringify(filter)} does not hold`,
    );
  }
}

/** An existing relationship is reported before a cycle, as in SpiceDB. */
async function refuseExisting(
  session: SpicedbSession,
  updates: readonly RelationshipUpdate[],
  head: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  for (const { operation, relationship } of updates) {
    if (operation !== "CREATE") continue;
    const { resource, relation, subject } = relationship;
    const filter = {
      resourceType: resource.type,
      resourceId: resource.id,
      relation,
      subject: { type: subject.type, id: subject.id, relation: subject.relation ?? "" },
    };
    if (!(await isStored(session, filter, atExactly(head), signal))) continue;
    throw new AuthzError("ALREADY_EXISTS", `${formatRelationship(relationship)} exists`);
  }
}
