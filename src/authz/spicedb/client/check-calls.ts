import type { v1 } from "@authzed/authzed-node";
import { AuthzError } from "../../engine/authz-error.ts";
import type { BulkCheckItem, CheckRequest } from "../../engine/requests.ts";
import type { Connection } from "./connection.ts";
import { isAllowed, toCheckItem } from "./messages.ts";

/**
 * The most checks of one call. SpiceDB accepts 10,000; smaller calls meet the deadline, and share
 * the server better.
 */
export const CHUNK = 500;

/** Asks SpiceDB for one decision. */
export function askCheck(
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

/** Asks SpiceDB for many decisions in one call; a failed one is an error in its place. */
export async function askChecks(
  connection: Connection,
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
    throw new AuthzError("INTERNAL", "SpiceDB returned another number of results than checks");
  }
  return { items: pairs.map(toItem), zedToken: checkedAt?.token ?? "" };
}

function toItem({ response }: v1.CheckBulkPermissionsPair): BulkCheckItem {
  switch (response.oneofKind) {
    case "item":
      return { allowed: isAllowed(response.item.permissionship) };
    default:
      return { error: new AuthzError("INTERNAL", "SpiceDB returned no decision") };
  }
}
