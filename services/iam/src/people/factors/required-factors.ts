import { type AuthorizationEngine, AuthzError } from "svc-access/authz";

/** The relations to the zone of the organization by which somebody must have a second factor. */
export const REQUIRING_RELATIONS = [
  "owner",
  "admin",
  "user_viewer",
  "user_manager",
  "group_viewer",
  "group_manager",
  "permission_admin",
] as const;

/** Who must have a second factor: everybody, or who holds one of the relations. */
export type RequiredFor = readonly ("everyone" | (typeof REQUIRING_RELATIONS)[number])[];

/**
 * Decides who must have a second factor, on the newest relationships, also those by groups. Where the engine cannot
 * decide a relation because of what is stored, such as groups that are members of one another in too long a row, the
 * factor is required: nobody is let in without it, and nobody is locked out.
 *
 * @param zone `iam.organization`
 * @returns a function that throws an AuthzError where the engine does not answer: nobody logs in then
 */
export function requiredFactors(
  engine: Pick<AuthorizationEngine, "checkBulk">,
  zone: string,
  requiredFor: RequiredFor,
): (accountId: string, signal: AbortSignal) => Promise<boolean> {
  return async (accountId, signal) => {
    if (requiredFor.includes("everyone")) return true;
    if (requiredFor.length === 0) return false;
    const requests = requiredFor.map((permission) => ({
      resource: { type: "zone", id: zone },
      permission,
      subject: { type: "user", id: accountId },
    }));
    const { items } = await engine.checkBulk(requests, { newest: true, signal });
    for (const { error } of items) if (error !== undefined && !isUndecidable(error)) throw error;
    return items.some(({ allowed, error }) => allowed || error !== undefined);
  };
}

function isUndecidable(error: Error): boolean {
  return error instanceof AuthzError && error.code === "FAILED_PRECONDITION";
}
