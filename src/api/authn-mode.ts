/** The ways in which a service may authenticate its callers. */
export const AUTHN_MODES = ["gateway_trusted", "idp_jwt", "hybrid", "disabled"] as const;

/** How a service authenticates its callers. */
export type AuthnMode = (typeof AUTHN_MODES)[number];

/** The mode where none is configured. */
export const DEFAULT_AUTHN_MODE: AuthnMode = "gateway_trusted";
