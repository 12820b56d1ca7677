/** The scopes of the provider. */
export const SCOPES = ["openid", "profile", "email", "offline_access"] as const;

/**
 * The resource whose tokens are for the client itself: that of all clients without an audience. Only with a
 * resource are access tokens JWTs.
 */
export const RESOURCE = "urn:svc-access:platform";

/** How long access tokens are valid, in seconds. */
export const ACCESS_TOKEN_SECONDS = 300;
