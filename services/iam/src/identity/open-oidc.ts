import {
  createTokenVerifier,
  type Job,
  MemoryRevocationList,
  type ProcessLogger,
} from "svc-access/runtime";
import type { LoadedIamConfig } from "../config/load-iam-config.ts";
import type { Revocations } from "../people/sessions/revocations.ts";
import type { IdentityProvider } from "../provider/identity-provider.ts";
import { IssuedTokens } from "../provider/issued-tokens.ts";
import { OidcIdentityProvider } from "../provider/oidc/oidc-identity-provider.ts";
import { OidcProviderClient } from "../provider/oidc/oidc-provider-client.ts";

/** What an OpenID provider elsewhere needs of the server. */
export interface OidcParts {
  readonly configuration: LoadedIamConfig;
  /** With the tables of the users. */
  readonly database: { readonly kysely: unknown };
  readonly logger: ProcessLogger;
  readonly revocations: Revocations;
}

/** An OpenID provider elsewhere, opened. */
export interface OpenedOidc {
  readonly client: IdentityProvider;
  readonly jobs: readonly Job[];
}

const NS_PER_MS = 1_000_000;

/**
 * Opens an OpenID provider from a configuration that has been checked. Nothing is called before the
 * first login.
 *
 * @throws Error where the configuration has no OpenID provider
 */
export function openOidc({ configuration, database, logger, revocations }: OidcParts): OpenedOidc {
  const { config, sections } = configuration;
  const { oidc } = config.security.authn;
  if (oidc === undefined) throw new Error("security.authn.oidc is not configured");
  const { client_id: clientId, client_secret: clientSecret = "", scopes } = sections.iam.login;
  const client = new OidcProviderClient({
    issuer: oidc.issuer,
    discoveryUrl: oidc.discovery_url,
    clientId,
    clientSecret,
    scopes,
    logger,
    allowHttp: config.environment === "development" || config.environment === "test",
  });
  const tokens = new IssuedTokens({
    // Whether a token was revoked before does not matter: it is to be ended.
    verifier: createTokenVerifier(config, { revocations: new MemoryRevocationList(), logger }),
    revocations,
    database,
    clockSkewMs: oidc.clock_skew_ns / NS_PER_MS,
    logger,
  });
  return {
    client: new OidcIdentityProvider({ client, tokens }),
    jobs: [{ name: "revocation_clean_up", every: "1m", run: () => revocations.removeExpired() }],
  };
}
