import { v1 } from "@authzed/authzed-node";
import { AuthzError } from "../authz-error.ts";
import {
  type BulkCheckItem,
  type CallOptions,
  type CheckRequest,
  type CheckResult,
  MAX_BULK_CHECKS,
} from "../engine.ts";
import { invalid } from "../validate-request.ts";
import { atExactly } from "./freshness.ts";
import { mapGrpcError } from "./map-error.ts";
import { isAllowed, toCheckItem } from "./messages.ts";
import { revisionOf } from "./revision.ts";
import { headOf, type Session } from "./session.ts";

/** The most checks of one call. SpiceDB takes 10,000; smaller calls keep within the deadline, and share the server better. */
export const CHUNK = 500;

/** Decides a check. */
export async function check(
  session: Session,
  request: CheckRequest,
  { signal, atLeastAsFresh }: CallOptions = {},
): Promise<CheckResult> {
  session.validator.check(request);
  const { connection, freshness } = session;
  const { consistency, seen } = freshness.read(atLeastAsFresh);
  const message = { consistency, ...toCheckItem(request), withTracing: false };
  const response = await connection.unary<v1.CheckPermissionResponse>(
    "read",
    signal,
    (options, done) => connection.client.checkPermission(message, options, done),
  );
  seen(response.checkedAt?.token);
  return {
    allowed: isAllowed(response.permissionship),
    revision: revisionOf(response.checkedAt?.token ?? ""),
  };
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

  const { consistency, seen } = session.freshness.read(atLeastAsFresh);
  let zedToken: string | undefined;
  for (let start = 0; start < valid.length; start += CHUNK) {
    const chunk = valid.slice(start, start + CHUNK);
    const at = zedToken === undefined ? consistency : atExactly(zedToken);
    const asked = chunk.map((index) => requests[index] as CheckRequest);
    const decided = await decide(session, asked, at, signal);
    zedToken ??= decided.zedToken;
    for (const [position, index] of chunk.entries()) items[index] = decided.items[position];
  }
  zedToken ??= await headOf(session, signal);
  seen(zedToken);
  return { items: items as BulkCheckItem[], revision: revisionOf(zedToken) };
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
  return { items: pairs.map(toItem), zedToken: checkedAt?.token ?? "" };
}

function toItem({ response }: v1.CheckBulkPermissionsPair): BulkCheckItem {
  switch (response.oneofKind) {
    case "item":
      return { allowed: isAllowed(response.item.permissionship) };
    case "error": {
      const { code, message } = response.error;
      return { error: mapGrpcError({ code, details: message }, "") };
    }
    default:
      return { error: new AuthzError("INTERNAL", "SpiceDB answered no decision") };
  }
}

function refusal({ validator }: Session, request: CheckRequest): BulkCheckItem | undefined {
  try {
    validator.check(request);
    return undefined;
  } catch (error) {
    return { error: error as Error };
  }
}
