import { v1 } from "@authzed/authzed-node";
import type { CheckAnyRequest, CheckRequest } from "../engine.ts";
import { CHUNK, decide } from "./checks.ts";
import { atExactly } from "./freshness.ts";
import { toSubject } from "./messages.ts";
import { mayMislead } from "./misled-lookups.ts";
import { readStored } from "./relationships.ts";
import type { Session } from "./session.ts";
import { decodeSpicedbId } from "./spicedb-id.ts";
import { refuseAmongWildcards } from "./userset-wildcards.ts";

/** The most results of a lookup, over all its pages. */
export const MAX_RESULTS = 100_000;

/** A resource that a subject holds a permission on. */
export interface FoundResource {
  readonly id: string;
  /** The state that it is of. */
  readonly readAt: v1.ZedToken | undefined;
}

/**
 * The resources that a subject holds a permission on, in no order. SpiceDB is asked to look them
 * up; where it may find wrong ones, each object of the type is checked instead.
 *
 * @param one whether one of them is enough
 */
export async function findResources(
  session: Session,
  request: CheckAnyRequest,
  consistency: v1.Consistency,
  signal: AbortSignal | undefined,
  one = false,
): Promise<FoundResource[]> {
  const { resourceType, permission, subject } = request;
  refuseAmongWildcards(session.model, resourceType, permission, subject);
  const find = mayMislead(session.model, resourceType, permission) ? checkEach : lookUp;
  return find(session, request, consistency, signal, one);
}

async function lookUp(
  session: Session,
  request: CheckAnyRequest,
  consistency: v1.Consistency,
  signal: AbortSignal | undefined,
  one: boolean,
): Promise<FoundResource[]> {
  const { connection } = session;
  const { resourceType, permission, subject } = request;
  const message: v1.LookupResourcesRequest = {
    consistency,
    resourceObjectType: resourceType,
    permission,
    subject: toSubject(subject),
    optionalLimit: one ? 1 : 0,
  };
  const messages = await connection.collect(signal, MAX_RESULTS, (call) =>
    connection.client.lookupResources(message, call),
  );
  const granted = messages.filter(({ permissionship }) => isGranted(permissionship));
  // Behind one that a caveat makes conditional there may be others.
  if (one && granted.length < messages.length) {
    return lookUp(session, request, consistency, signal, false);
  }
  return granted.map(({ resourceObjectId, lookedUpAt }) => ({
    id: decodeSpicedbId(resourceObjectId),
    readAt: lookedUpAt,
  }));
}

/** Whoever holds something on an object is named with it, or is the object. */
async function checkEach(
  session: Session,
  { resourceType: type, permission, subject }: CheckAnyRequest,
  consistency: v1.Consistency,
  signal: AbortSignal | undefined,
  one: boolean,
): Promise<FoundResource[]> {
  const stored = await readStored(session, { resourceType: type }, consistency, signal);
  const ids = new Set(
    stored.map(({ relationship }) => decodeSpicedbId(relationship?.resource?.objectId ?? "")),
  );
  if (subject.type === type) ids.add(subject.id);
  const requests = [...ids].map(
    (id): CheckRequest => ({ resource: { type, id }, permission, subject }),
  );
  let readAt = stored[0]?.readAt;
  const found: FoundResource[] = [];
  for (let start = 0; start < requests.length; start += CHUNK) {
    const chunk = requests.slice(start, start + CHUNK);
    const at = readAt === undefined ? consistency : atExactly(readAt.token);
    const { items, zedToken } = await decide(session, chunk, at, signal);
    readAt ??= { token: zedToken };
    for (const [index, { allowed, error }] of items.entries()) {
      if (error !== undefined) throw error;
      const id = chunk[index]?.resource.id;
      if (allowed && id !== undefined) found.push({ id, readAt });
    }
    if (one && found.length > 0) break;
  }
  return found;
}

/** Whether what was found is held without a condition. */
export function isGranted(permissionship: v1.LookupPermissionship | undefined): boolean {
  return permissionship === v1.LookupPermissionship.HAS_PERMISSION;
}
