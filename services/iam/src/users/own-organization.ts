import { type CallContext, requirePrincipal, ServiceError } from "svc-access/runtime";

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
