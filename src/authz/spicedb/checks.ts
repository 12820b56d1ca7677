import type { v1 } from "@authzed/authzed-node";
import { AuthzError, type AuthzErrorCode } from "../authz-error.ts";
import {
  type BulkCheckItem,
  type CallOptions,
  type CheckRequest,
  type CheckResult,
  MAX_BULK_CHECKS,
} from "../engine.ts";
import { invalid } from "../validate-request.ts";
import type { Connection } from "./connection.ts";
import { atExactly } from "./freshness.ts";
import { isAllowed, toCheckItem } from "./messages.ts";
import { revisionOf } from "./revision.ts";
import type { Session } from "./session.ts";
import { refuseAmongWildcards } from "./userset-wildcards.ts";

/** The most checks of one call. SpiceDB takes 10,000; smaller calls keep within the deadline, and share the server better. */
export const CHUNK = 500;
/** How many checks that failed together are asked at once. */
const PARALLEL = 16;
/** Failures that are of one check, and say nothing of the others. */
const OF_THE_REQUEST: ReadonlySet<AuthzErrorCode> = new Set([
  "INVALID_ARGUMENT",
  "FAILED_PRECONDITION",
  "RESOURCE_EXHAUSTED",
]);

/** Decides a check. */
export async function check(
  session: Session,
  request: CheckRequest,
  { signal, atLeastAsFresh }: CallOptions = {},
): Promise<CheckResult> {
  requireAnswerable(session, request);
  const { connection, freshness } = session;
  const { consistency, atLeast, seen } = await freshness.read(atLeastAsFresh, signal);
  const { permissionship, checkedAt } = await ask(connection, request, consistency, signal);
  seen(checkedAt?.token);
  return { allowed: isAllowed(permissionship), revision: revisionOf(checkedAt?.token ?? atLeast) };
}

function ask(
  connection: Connection,
  request: CheckRequest,
  consistency: v1.Consistency,
  signal: AbortSignal | undefined,
): Promise<v1.CheckPermissionResponse> {
  const message = { consistency, ...toCheckItem(request), withTracing: false };
  return connection.unary("read", signal, (options, done) =>
    connection.client.checkPermission(message, options, done),
  );
}

/** Decides many checks at one revision. */
export async function checkBulk(
  session: Session,
  requests: readonly CheckRequest[],
  { signal, atLeastAsFresh }: CallOptions = {},
): Promise<{ items: BulkCheckItem[]; revision: string }> {
  if (requests.length > MAX_BULK_CHECKS) {
    throw invalid(`a bulk check has at most ${MAX_BULK_CHECKS} checks, not ${requests.length}`);
  }
  const items: (BulkCheckItem | undefined)[] = requests.map((request) => refusal(session, request));
  const valid = [...requests.keys()].filter((index) => items[index] === undefined);

  const { consistency, atLeast, seen } = await session.freshness.read(atLeastAsFresh, signal);
  let zedToken: string | undefined;
  for (let start = 0; start < valid.length; start += CHUNK) {
    const chunk = valid.slice(start, start + CHUNK);
    const at = zedToken === undefined ? consistency : atExactly(zedToken);
    const asked = chunk.map((index) => requests[index] as CheckRequest);
    const decided = await decide(session, asked, at, signal);
    zedToken ??= decided.zedToken;
    for (const [position, index] of chunk.entries()) items[index] = decided.items[position];
  }
  seen(zedToken);
  return { items: items as BulkCheckItem[], revision: revisionOf(zedToken ?? atLeast) };
}

/** Decides checks, which are valid, in one call. */
export async function decide(
  { connection }: Session,
  requests: readonly CheckRequest[],
  consistency: v1.Consistency,
  signal: AbortSignal | undefined,
): Promise<{ items: BulkCheckItem[]; zedToken: string }> {
  const message = { consistency, items: requests.map(toCheckItem), withTracing: false };
  const response = await connection.unary<v1.CheckBulkPermissionsResponse>(
    "read",
    signal,
    (options, done) => connection.client.checkBulkPermissions(message, options, done),
  );
  const { pairs, checkedAt } = response;
  if (pairs.length !== requests.length) {
    throw new AuthzError("INTERNAL", "SpiceDB answered another number of checks than it was asked");
  }
  const zedToken = checkedAt?.token ?? "";
  const items = pairs.map(toItem);
  const failed = [...items.keys()].filter((index) => items[index]?.error !== undefined);
  for (let start = 0; start < failed.length; start += PARALLEL) {
    const some = failed.slice(start, start + PARALLEL);
    const again = some.map((index) =>
      decideAlone(connection, requests[index] as CheckRequest, atExactly(zedToken), signal),
    );
    for (const [position, item] of (await Promise.all(again)).entries()) {
      items[some[position] as number] = item;
    }
  }
  return { items, zedToken };
}

/**
 * Decides a check of many by itself: SpiceDB decides those that are alike together, and where one
 * of them fails, by its depth, all do.
 */
async function decideAlone(
  connection: Connection,
  request: CheckRequest,
  consistency: v1.Consistency,
  signal: AbortSignal | undefined,
): Promise<BulkCheckItem> {
  try {
    const { permissionship } = await ask(connection, request, consistency, signal);
    return { allowed: isAllowed(permissionship) };
  } catch (error) {
    if (error instanceof AuthzError && OF_THE_REQUEST.has(error.code)) return { error };
    throw error;
  }
}

function toItem({ response }: v1.CheckBulkPermissionsPair): BulkCheckItem {
  switch (response.oneofKind) {
    case "item":
      return { allowed: isAllowed(response.item.permissionship) };
    default:
      return { error: new AuthzError("INTERNAL", "SpiceDB answered no decision") };
  }
}

function refusal(session: Session, request: CheckRequest): BulkCheckItem | undefined {
  try {
    requireAnswerable(session, request);
    return undefined;
  } catch (error) {
    return { error: error as Error };
  }
}

/** @throws AuthzError INVALID_ARGUMENT; UNIMPLEMENTED where SpiceDB would decide wrongly */
function requireAnswerable({ validator, model }: Session, request: CheckRequest): void {
  validator.check(request);
  refuseAmongWildcards(model, request.resource.type, request.permission, request.subject);
}
