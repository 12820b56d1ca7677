import type { ClaimMapping } from "../../api/principal-claims.ts";
import { CLAIM_MAPPINGS } from "../../api/principal-claims.ts";
import type { FrontendConfig, IdentityConfig } from "../../config/config.ts";

/** The SecurityPolicy that logs callers in and checks their token. */
export interface LoginPolicyPlan {
  readonly name: string;
  readonly issuer: string;
  readonly authorizationEndpoint: string;
  readonly tokenEndpoint: string;
  readonly endSessionEndpoint?: string;
  readonly jwksUri: string;
  readonly clientId: string;
  /** A reference; the value never enters a plan. */
  readonly clientSecret: { readonly name: string; readonly namespace?: string };
  readonly redirectUrl: string;
  readonly logoutPath: string;
  readonly claims: readonly Pick<ClaimMapping, "claim" | "header">[];
  /** The organizations whose tokens pass; empty for all. */
  readonly allowedOwners: readonly string[];
}

/** The SecurityPolicy of PUBLIC routes: it opens what the backstop closes, and answers preflights. */
export interface OpenPolicyPlan {
  readonly name: string;
  readonly allow: boolean;
}

/** Which other origins may call. */
export interface CorsPlan {
  readonly origins: readonly string[];
}

/** The login policy of a frontend. */
export function loginPolicy(
  name: string,
  frontend: FrontendConfig,
  identity: IdentityConfig,
): LoginPolicyPlan {
  const { client_secret: secret } = frontend;
  return {
    name,
    issuer: identity.issuer,
    authorizationEndpoint: identity.authorization_endpoint,
    tokenEndpoint: identity.token_endpoint,
    ...(identity.end_session_endpoint === undefined
      ? {}
      : { endSessionEndpoint: identity.end_session_endpoint }),
    jwksUri: identity.jwks_uri,
    clientId: frontend.client_id,
    clientSecret: {
      name: secret.name,
      ...(secret.namespace === undefined || secret.namespace === frontend.namespace
        ? {}
        : { namespace: secret.namespace }),
    },
    redirectUrl: frontend.redirect_url,
    logoutPath: frontend.logout_path,
    claims: CLAIM_MAPPINGS[frontend.claims].map(({ claim, header }) => ({ claim, header })),
    allowedOwners: [...identity.allowed_owners],
  };
}
