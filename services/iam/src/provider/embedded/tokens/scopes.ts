/** The scopes of the provider. */
export const SCOPES = ["openid", "profile", "email", "offline_access"] as const;

/**
 * The resource that all access tokens are for, unless a client names another one, which is refused.
 * Only with a resource are access tokens JWTs.
 */
export const RESOURCE = "urn:svc-access:platform";

/** How long access tokens are valid, in seconds. */
export const ACCESS_TOKEN_SECONDS = 300;
