import { ServiceError } from "svc-access/runtime";
import type { Caller } from "../../rights/caller-rights.ts";

/**
 * Refuses what would take over the own account: a token is enough for the call, and may be stolen. The way for
 * oneself asks for the password, or a login that is fresh.
 *
 * @param userId the user whom the call is about
 * @param way what to do instead
 * @throws ServiceError FORBIDDEN
 */
export function assertNotOwn(
  { subjectType, subjectId }: Caller,
  userId: string,
  way: string,
): void {
  if (subjectType !== "user" || subjectId !== userId) return;
  throw new ServiceError("FORBIDDEN", `this is for the accounts of others; ${way}`);
}
