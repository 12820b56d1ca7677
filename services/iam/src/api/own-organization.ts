import {
  type CallContext,
  type Principal,
  requirePrincipal,
  ServiceError,
} from "svc-access/runtime";
import type { LocalAccount } from "../people/accounts/account-row.ts";
import type { LocalAccounts } from "../people/accounts/local-accounts.ts";

/**
 * Refuses callers of another organization: local users belong to one. The caller's own decides,
 * never the request.
 *
 * @throws ServiceError FORBIDDEN
 */
export function assertOwnOrganization(context: CallContext, organization: string): void {
  if (requirePrincipal(context).organizationId !== organization) {
    throw new ServiceError("FORBIDDEN", "the local users belong to another organization");
  }
}

/**
 * The caller, who must be a user, of whichever organization.
 *
 * @throws ServiceError FORBIDDEN
 */
export function requireUser(context: CallContext): Principal {
  const principal = requirePrincipal(context);
  if (principal.subjectType === "user") return principal;
  throw new ServiceError("FORBIDDEN", "the caller is not a user");
}

/**
 * The id of the caller, who must be a user of the organization: nobody else logs in here.
 *
 * @throws ServiceError FORBIDDEN
 */
export function callingUser(context: CallContext, organization: string): string {
  const { subjectId } = requireUser(context);
  // Another issuer may have a user of the same id.
  assertOwnOrganization(context, organization);
  return subjectId;
}

/**
 * The local user whom a request names; the audit names it.
 *
 * @throws ServiceError FORBIDDEN, INVALID_ARGUMENT or RESOURCE_NOT_FOUND
 */
export async function localUser(
  userId: string,
  {
    accounts,
    organization,
  }: { readonly accounts: Pick<LocalAccounts, "find">; readonly organization: string },
  context: CallContext,
): Promise<LocalAccount> {
  assertOwnOrganization(context, organization);
  if (userId === "") throw new ServiceError("INVALID_ARGUMENT", "user_id is required");
  const account = await accounts.find(userId);
  if (account === undefined) {
    throw new ServiceError("RESOURCE_NOT_FOUND", "the user does not exist");
  }
  context.audit.setResource(`user:${account.id}`);
  return account;
}
