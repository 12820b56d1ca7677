import { isIamIssuer, subjectTypeClaim } from "../../../api/identity-headers.ts";
import type { Logger } from "../../../common/logger.ts";
import type { ServiceConfig } from "../../configuration/service-config.ts";
import type { RuntimeEvents } from "../../events/runtime-events.ts";
import { KeySet } from "./key-set.ts";
import { fetchKeys, readKeySet } from "./key-source.ts";
import type { RevocationList } from "./revocation-list.ts";
import { VerifiedTokens } from "./verified-tokens.ts";

/** The section `security.authn.oidc`. */
export type OidcConfig = NonNullable<ServiceConfig["security"]["authn"]["oidc"]>;

/** What the verification of tokens needs besides the configuration. */
export interface TokenDependencies {
  readonly revocations: RevocationList;
  readonly events: RuntimeEvents;
  readonly logger: Logger;
  /** Reads the key set; absent, it is fetched from the provider. */
  readonly keySet?: (() => Promise<object>) | undefined;
  /** Milliseconds since the epoch; `Date.now` if absent. */
  readonly now?: (() => number) | undefined;
}

const NS_PER_MS = 1_000_000;

/** The tokens of the configured provider. Nothing is fetched before the first one. */
export function configuredTokens(
  oidc: OidcConfig,
  cacheTtlNs: number,
  { revocations, events, logger, keySet, now = () => Date.now() }: TokenDependencies,
): VerifiedTokens {
  const algorithms: ReadonlySet<string> = new Set(oidc.allowed_algs);
  const { issuer, discovery_url: discoveryUrl, jwks_url: jwksUrl } = oidc;
  const load =
    keySet === undefined
      ? () => fetchKeys({ issuer, discoveryUrl, jwksUrl, algorithms })
      : async () => readKeySet({ ...(await keySet()) }, algorithms);
  return new VerifiedTokens({
    keys: new KeySet({ load, ttlMs: oidc.jwks_cache_ttl_ns / NS_PER_MS, now, events, logger }),
    rules: {
      algorithms,
      issuer,
      audience: oidc.audience,
      allowedOwners: oidc.allowed_owners,
      isTypeRequired: isIamIssuer(issuer),
      subjectTypeClaim: subjectTypeClaim(issuer, oidc.subject_type_claim),
      clockSkewMs: oidc.clock_skew_ns / NS_PER_MS,
    },
    cacheTtlMs: cacheTtlNs / NS_PER_MS,
    revocations,
    now,
    events,
  });
}
