import type { v1 } from "@authzed/authzed-node";
import { AuthzError, type AuthzErrorCode } from "../../engine/authz-error.ts";
import type { BulkCheckItem, CheckRequest } from "../../engine/requests.ts";
import { askCheck, askChecks } from "../client/check-calls.ts";
import type { Connection } from "../client/connection.ts";
import { atExactly } from "../client/freshness.ts";
import { isAllowed } from "../client/messages.ts";
import type { SpicedbSession } from "../client/session.ts";

/** How many checks that failed together are asked at once. */
const PARALLEL = 16;
/** Failures that concern only one check. */
const OF_THE_REQUEST: ReadonlySet<AuthzErrorCode> = new Set([
  "INVALID_ARGUMENT",
  "FAILED_PRECONDITION",
  "RESOURCE_EXHAUSTED",
]);

/**
 * Decides valid checks in one call, and repeats each failed one by itself.
 *
 * For SpiceDB 1.54. It decides equal checks of a call together, and if one of them fails because of
 * its depth, all do.
 */
export async function decide(
  { connection }: SpicedbSession,
  requests: readonly CheckRequest[],
  consistency: v1.Consistency,
  signal: AbortSignal | undefined,
): Promise<{ items: BulkCheckItem[]; zedToken: string }> {
  const { items, zedToken } = await askChecks(connection, requests, consistency, signal);
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

async function decideAlone(
  connection: Connection,
  request: CheckRequest,
  consistency: v1.Consistency,
  signal: AbortSignal | undefined,
): Promise<BulkCheckItem> {
  try {
    const { permissionship } = await askCheck(connection, request, consistency, signal);
    return { allowed: isAllowed(permissionship) };
  } catch (error) {
    if (error instanceof AuthzError && OF_THE_REQUEST.has(error.code)) return { error };
    throw error;
  }
}
