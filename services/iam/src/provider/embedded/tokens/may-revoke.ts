import { requestScope } from "../request/request-scope.ts";

/** The errors of `oidc-provider`. */
interface RevocationErrors {
  readonly UnauthorizedClient: new (description: string) => Error;
}

/**
 * Whether a token is revoked: for the client that it was issued to (RFC 7009, 2.1), and for a service that asks svc-iam to
 * revoke it (`RevokeToken`), whose token it may be of any client.
 *
 * @throws UnauthorizedClient for another client: it must not take a token for revoked that still counts
 */
export function mayRevoke(
  client: { readonly clientId: string },
  token: { readonly clientId?: string | undefined },
  errors: RevocationErrors,
): true {
  if (requestScope.getStore()?.isOwn === true || token.clientId === client.clientId) return true;
  throw new errors.UnauthorizedClient("the token was issued to another client");
}
