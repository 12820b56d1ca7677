import {
  createTokenVerifier,
  type Job,
  MemoryRevocationList,
  type ProcessLogger,
} from "svc-access/runtime";
import type { LoadedIamConfig } from "../../config/load-iam-config.ts";
import type { Revocations } from "../../people/sessions/revocations.ts";
import type { Directory } from "../directory.ts";
import type { IdentityProvider } from "../identity-provider.ts";
import { IssuedTokens } from "../issued-tokens.ts";
import { OidcProviderClient } from "../oidc/oidc-provider-client.ts";
import { CasdoorApi } from "./casdoor-api.ts";
import { CasdoorDirectory } from "./casdoor-directory.ts";
import { CasdoorIdentityProvider } from "./casdoor-identity-provider.ts";
import { applicationKeySetUrl, fetchKeySet } from "./casdoor-key-set.ts";

/** What Casdoor needs of the server. */
export interface CasdoorParts {
  readonly configuration: LoadedIamConfig;
  /** With the tables of the users. */
  readonly database: { readonly kysely: unknown };
  readonly logger: ProcessLogger;
  readonly revocations: Revocations;
}

/** Casdoor, opened. */
export interface OpenedCasdoor {
  readonly client: IdentityProvider;
  readonly directory: Directory;
  readonly keySet: (() => Promise<object>) | undefined;
  readonly jobs: readonly Job[];
}

const NS_PER_MS = 1_000_000;

/**
 * Opens Casdoor from a configuration that has been checked. Nothing is called before the first login.
 *
 * @throws Error where the configuration has no Casdoor
 */
export function openCasdoor({
  configuration,
  database,
  logger,
  revocations,
}: CasdoorParts): OpenedCasdoor {
  const { config, sections } = configuration;
  const { casdoor, oidc } = config.security.authn;
  if (casdoor === undefined || oidc === undefined) throw new Error("Casdoor is not configured");
  const isDevelopment = config.environment === "development" || config.environment === "test";
  const { endpoint } = casdoor;
  const origin = endpoint.replace(/\/+$/, "");
  const { login } = sections.iam;
  const keySetUrl = oidc.jwks_url ?? applicationKeySetUrl(endpoint, casdoor.application_name);
  // Where jwks_url is given, the runtime fetches it itself.
  const keySet = oidc.jwks_url === undefined ? () => fetchKeySet(keySetUrl) : undefined;
  const client = new OidcProviderClient({
    issuer: oidc.issuer,
    discoveryUrl: oidc.discovery_url ?? `${origin}/.well-known/openid-configuration`,
    endpoints: { token: `${origin}/api/login/oauth/access_token`, keySet: keySetUrl },
    authentication: "post",
    clientId: login.client_id,
    clientSecret: login.client_secret ?? casdoor.client_secret,
    scopes: login.scopes,
    logger,
    // The endpoint may be inside the cluster.
    allowHttp: isDevelopment || origin.toLowerCase().startsWith("http:"),
  });
  const tokens = new IssuedTokens({
    // Whether a token was revoked does not matter: it has just been issued, or is to be ended.
    verifier: createTokenVerifier(config, {
      revocations: new MemoryRevocationList(),
      logger,
      ...(keySet === undefined ? {} : { keySet }),
    }),
    revocations,
    database,
    clockSkewMs: oidc.clock_skew_ns / NS_PER_MS,
    logger,
  });
  const api = new CasdoorApi({
    endpoint,
    clientId: casdoor.client_id,
    clientSecret: casdoor.client_secret,
    logger,
  });
  return {
    client: new CasdoorIdentityProvider({
      client,
      api,
      tokens,
      logger,
      allowHttpLogin: isDevelopment,
    }),
    directory: new CasdoorDirectory({ api, organization: casdoor.organization_name, logger }),
    keySet,
    jobs: [{ name: "revocation_clean_up", every: "1m", run: () => revocations.removeExpired() }],
  };
}
