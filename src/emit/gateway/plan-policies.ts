import {
  CLAIM_MAPPINGS,
  type ClaimMapping,
  SUBJECT_TYPE_HEADER,
  subjectTypeClaim,
} from "../../api/identity-headers.ts";
import { durationMs, formatDuration } from "../../config/config-values.ts";
import type { EdgeConfig, IdentityConfig } from "../../config/edge-config.ts";
import { type SessionConfig, sessionOf } from "../../config/frontend.ts";
import type { FrontendConfig } from "../../config/frontend-config.ts";

/** The SecurityPolicy that checks the token of callers, and logs in those without one. */
export interface LoginPolicyPlan {
  readonly name: string;
  readonly issuer: string;
  readonly jwksUri: string;
  /** The client ids whose tokens pass. */
  readonly audiences: readonly string[];
  /** The login and its session; absent if only Bearer tokens pass. */
  readonly session?: SessionPlan;
  readonly claims: readonly Pick<ClaimMapping, "claim" | "header">[];
  /** The organizations whose tokens pass; empty for all. */
  readonly allowedOwners: readonly string[];
}

/** The login of a browser at the identity provider, and its session. */
export interface SessionPlan {
  readonly authorizationEndpoint: string;
  readonly tokenEndpoint: string;
  readonly endSessionEndpoint?: string;
  readonly clientId: string;
  /** A reference; the value never enters a plan. */
  readonly clientSecret: { readonly name: string; readonly namespace?: string };
  readonly redirectUrl: string;
  readonly logoutPath: string;
  /** The time limit of a login. */
  readonly loginTimeout: string;
  /** Whether scripts get 401 instead of 302. */
  readonly denyRedirect: boolean;
}

/** The SecurityPolicy of PUBLIC routes: it opens routes that the backstop closes, and answers preflights. */
export interface OpenPolicyPlan {
  readonly name: string;
  readonly allow: boolean;
}

/** The other origins that may call. */
export interface CorsPlan {
  readonly origins: readonly string[];
  /** Whether Connect and gRPC-Web clients are among them. */
  readonly connect: boolean;
}

/** The login policy of a frontend. */
export function loginPolicy(
  name: string,
  frontend: FrontendConfig,
  identity: IdentityConfig,
  edge: EdgeConfig,
): LoginPolicyPlan {
  const session = sessionOf(frontend);
  return {
    name,
    issuer: identity.issuer,
    jwksUri: identity.jwks_uri,
    audiences: session === undefined ? [...(frontend.audiences ?? [])] : [session.client_id],
    ...(session === undefined ? {} : { session: sessionPlan(session, frontend, identity, edge) }),
    claims: claimsOf(frontend, identity),
    allowedOwners: [...identity.allowed_owners],
  };
}

function claimsOf({ claims }: FrontendConfig, identity: IdentityConfig): LoginPolicyPlan["claims"] {
  const mappings = CLAIM_MAPPINGS[claims].map(({ claim, header }) => ({ claim, header }));
  const claim = subjectTypeClaim(identity.issuer, identity.subject_type_claim);
  return claim === undefined ? mappings : [...mappings, { claim, header: SUBJECT_TYPE_HEADER }];
}

function sessionPlan(
  { client_id, client_secret: secret, redirect_url, logout_path }: SessionConfig,
  frontend: FrontendConfig,
  identity: IdentityConfig,
  edge: EdgeConfig,
): SessionPlan {
  return {
    authorizationEndpoint: identity.authorization_endpoint,
    tokenEndpoint: identity.token_endpoint,
    ...(identity.end_session_endpoint === undefined
      ? {}
      : { endSessionEndpoint: identity.end_session_endpoint }),
    clientId: client_id,
    clientSecret: {
      name: secret.name,
      ...(secret.namespace === undefined || secret.namespace === frontend.namespace
        ? {}
        : { namespace: secret.namespace }),
    },
    redirectUrl: redirect_url,
    logoutPath: logout_path,
    loginTimeout: formatDuration(durationMs(edge.login_timeout) as number),
    denyRedirect: frontend.deny_redirect === true,
  };
}
