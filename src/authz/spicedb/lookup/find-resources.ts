import type { v1 } from "@authzed/authzed-node";
import { authzed } from "../../../common/drivers/authzed.ts";
import type { CallOptions, CheckAnyRequest, CheckResult } from "../../engine/requests.ts";
import { toSubject } from "../client/messages.ts";
import { readFresh, type SpicedbSession } from "../client/session.ts";
import { decodeSpicedbId } from "../client/spicedb-id.ts";
import { revisionOf } from "../client/tokens.ts";
import { refuseAmongWildcards } from "../workarounds/userset-wildcards.ts";
import {
  checkEachResource,
  type FoundResource,
  lookupMayBeWrong,
} from "../workarounds/wrong-resources.ts";

/** The most results of a lookup, over all its pages. */
export const MAX_RESULTS = 100_000;

/**
 * The resources that a subject holds a permission on, in no order. SpiceDB is asked to look them
 * up; if it may find wrong ones, each object of the type is checked instead.
 *
 * @param one whether one of them is enough
 */
export async function findResources(
  session: SpicedbSession,
  request: CheckAnyRequest,
  consistency: v1.Consistency,
  signal: AbortSignal | undefined,
  one = false,
): Promise<FoundResource[]> {
  const { resourceType, permission, subject } = request;
  if (session.validator.isUnknownCaller(subject)) return [];
  refuseAmongWildcards(session.model, resourceType, permission, subject);
  const find = lookupMayBeWrong(session.model, resourceType, permission)
    ? checkEachResource
    : lookUp;
  return find(session, request, consistency, signal, one);
}

async function lookUp(
  session: SpicedbSession,
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
  // After a result that depends on a caveat there may be others.
  if (one && granted.length < messages.length) {
    return lookUp(session, request, consistency, signal, false);
  }
  return granted.map(({ resourceObjectId, lookedUpAt }) => ({
    id: decodeSpicedbId(resourceObjectId),
    readAt: lookedUpAt,
  }));
}

/** Whether the permission is held without a condition. */
export function isGranted(permissionship: v1.LookupPermissionship | undefined): boolean {
  return permissionship === authzed.LookupPermissionship.HAS_PERMISSION;
}

/** Decides whether a subject holds a permission on at least one resource of a type. */
export async function checkAny(
  session: SpicedbSession,
  request: CheckAnyRequest,
  options: CallOptions = {},
): Promise<CheckResult> {
  session.validator.checkAny(request);
  const { messages, zedToken } = await readFresh<FoundResource>(
    session,
    options,
    ({ readAt }) => readAt,
    (consistency) => findResources(session, request, consistency, options.signal, true),
  );
  return { allowed: messages.length > 0, revision: revisionOf(zedToken) };
}
