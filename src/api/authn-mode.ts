/** The ways in which a service may authenticate its callers. */
export const AUTHN_MODES = ["gateway_trusted", "idp_jwt", "hybrid", "disabled"] as const;

/** How a service authenticates its callers. */
export type AuthnMode = (typeof AUTHN_MODES)[number];

/** What a mode of authentication takes the identity of a caller from. */
export interface AuthnSources {
  /** Identity headers of the gateway. */
  readonly headers: boolean;
  /** JWTs of the identity provider. */
  readonly tokens: boolean;
}

/** What each mode takes the identity of a caller from. */
export const AUTHN_SOURCES: Readonly<Record<AuthnMode, AuthnSources>> = {
  gateway_trusted: { headers: true, tokens: false },
  idp_jwt: { headers: false, tokens: true },
  hybrid: { headers: true, tokens: true },
  disabled: { headers: false, tokens: false },
};

/** The mode if none is configured. */
export const DEFAULT_AUTHN_MODE: AuthnMode = "gateway_trusted";
