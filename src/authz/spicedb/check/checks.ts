import {
  type BulkCheckItem,
  type CallOptions,
  type CheckRequest,
  type CheckResult,
  MAX_BULK_CHECKS,
} from "../../engine/requests.ts";
import { invalid } from "../../engine/validate-request.ts";
import { askCheck, CHUNK } from "../client/check-calls.ts";
import { atExactly } from "../client/freshness.ts";
import { isAllowed } from "../client/messages.ts";
import type { SpicedbSession } from "../client/session.ts";
import { revisionOf } from "../client/tokens.ts";
import { decide } from "../workarounds/failed-bulk-checks.ts";
import { refuseAmongWildcards } from "../workarounds/userset-wildcards.ts";

/** Decides a check. */
export async function check(
  session: SpicedbSession,
  request: CheckRequest,
  options: CallOptions = {},
): Promise<CheckResult> {
  requireAnswerable(session, request);
  const { signal } = options;
  const { connection, freshness, validator } = session;
  const { consistency, atLeast, seen } = await freshness.read(options);
  // SpiceDB refuses types that it does not have; it may have this one, for another service.
  if (validator.isUnknownCaller(request.subject)) {
    return { allowed: false, revision: revisionOf(atLeast) };
  }
  const { permissionship, checkedAt } = await askCheck(connection, request, consistency, signal);
  seen(checkedAt?.token);
  return { allowed: isAllowed(permissionship), revision: revisionOf(checkedAt?.token ?? atLeast) };
}

/** Decides many checks at one revision. */
export async function checkBulk(
  session: SpicedbSession,
  requests: readonly CheckRequest[],
  options: CallOptions = {},
): Promise<{ items: BulkCheckItem[]; revision: string }> {
  if (requests.length > MAX_BULK_CHECKS) {
    throw invalid(`a bulk check has at most ${MAX_BULK_CHECKS} checks, not ${requests.length}`);
  }
  const items = requests.map((request) => knownAnswer(session, request));
  const valid = [...requests.keys()].filter((index) => items[index] === undefined);

  const { signal } = options;
  const { consistency, atLeast, seen } = await session.freshness.read(options);
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

/** What is known without asking SpiceDB: that a request is refused, or that the subject holds nothing. */
function knownAnswer(session: SpicedbSession, request: CheckRequest): BulkCheckItem | undefined {
  try {
    requireAnswerable(session, request);
    return session.validator.isUnknownCaller(request.subject) ? { allowed: false } : undefined;
  } catch (error) {
    return { error: error as Error };
  }
}

/** @throws AuthzError INVALID_ARGUMENT; UNIMPLEMENTED where SpiceDB would decide wrongly */
function requireAnswerable({ validator, model }: SpicedbSession, request: CheckRequest): void {
  validator.check(request);
  refuseAmongWildcards(model, request.resource.type, request.permission, request.subject);
}
