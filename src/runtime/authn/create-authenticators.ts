import type { Logger } from "../../common/logger.ts";
import type { ServiceConfig } from "../configuration/service-config.ts";
import { ServiceError } from "../error/service-error.ts";
import type { RuntimeEvents } from "../events/runtime-events.ts";
import { GatewayHeadersAuthenticator } from "./gateway/gateway-headers.ts";
import type { AuthenticationRequest, Authenticator, Identity } from "./identity/authenticator.ts";
import { assertSameCaller } from "./identity/same-caller.ts";
import { InternalTokenAuthenticator, TokenTable } from "./internal/internal-token.ts";
import { tokenSources } from "./internal/token-sources.ts";
import { BearerRefused, BearerUnchecked } from "./jwt/bearer-token.ts";
import { configuredTokens } from "./jwt/configured-tokens.ts";
import { MemoryRevocationList, type RevocationList } from "./jwt/revocation-list.ts";
import { JwtAuthenticator } from "./jwt/verified-tokens.ts";

/** What authenticators need besides the configuration. */
export interface AuthenticatorDependencies {
  readonly events: RuntimeEvents;
  readonly logger: Logger;
  /** Called for each JWT; absent, nothing is revoked. */
  readonly revocations?: RevocationList | undefined;
  /** Reads the key set of the provider; absent, it is fetched. */
  readonly keySet?: (() => Promise<object>) | undefined;
  /**
   * Those of further kinds of credentials, such as a session cookie; called last, and not at all if
   * authentication is off.
   */
  readonly authenticators?: readonly Authenticator[] | undefined;
  /**
   * Registers the function that ends the reading of files; absent, it continues until the process
   * ends.
   */
  readonly onClose?: ((end: () => void) => void) | undefined;
  /** Milliseconds since the epoch; `Date.now` if absent. */
  readonly now?: (() => number) | undefined;
}

/**
 * The authenticators of a configuration, in the order in which they are called. Internal tokens
 * come first.
 */
export function createAuthenticators(
  config: ServiceConfig,
  dependencies: AuthenticatorDependencies,
): readonly Authenticator[] {
  const { authn } = config.security;
  const internal = authn.internal_call.enabled ? [createInternal(config, dependencies)] : [];
  if (!authn.enabled) return internal;
  const { authenticators: further = [] } = dependencies;
  switch (authn.mode) {
    case "gateway_trusted":
      return [...internal, new GatewayHeadersAuthenticator(), ...further];
    case "idp_jwt":
      return [...internal, createJwt(config, dependencies), ...further];
    case "hybrid": {
      const jwt = createJwt(config, dependencies);
      return [
        ...internal,
        new HybridAuthenticator(jwt, new GatewayHeadersAuthenticator()),
        ...further,
      ];
    }
    case "disabled":
      return internal;
  }
}

function createInternal(config: ServiceConfig, dependencies: AuthenticatorDependencies) {
  const { internal_call: internal } = config.security.authn;
  const { logger, events, onClose } = dependencies;
  const tokens = new TokenTable(tokenSources(internal), { logger, events });
  onClose?.(() => tokens.close());
  return new InternalTokenAuthenticator(internal.header, tokens);
}

function createJwt(config: ServiceConfig, dependencies: AuthenticatorDependencies) {
  const { oidc, cache_ttl_ns } = config.security.authn;
  if (oidc === undefined) throw new Error("security.authn.oidc is missing");
  const { revocations = new MemoryRevocationList() } = dependencies;
  const tokens = configuredTokens(oidc, cache_ttl_ns, { ...dependencies, revocations });
  return new JwtAuthenticator(tokens);
}

/**
 * The mode `hybrid`: the JWT first; if it does not identify the caller, the headers of the gateway.
 * If both do, they must name the same caller.
 *
 * A JWT that cannot be verified now counts as invalid: a peer that may use the headers could send
 * an invalid one as well. Without headers the call is UNAVAILABLE. A genuine JWT whose bearer is
 * refused decides, and one that may have been revoked: the gateway sets its headers from the same
 * token, and does not know revocations.
 */
export class HybridAuthenticator implements Authenticator {
  readonly name = "hybrid";
  readonly #jwt: Authenticator;
  readonly #gateway: GatewayHeadersAuthenticator;

  constructor(jwt: Authenticator, gateway: GatewayHeadersAuthenticator) {
    this.#jwt = jwt;
    this.#gateway = gateway;
  }

  authenticate(
    request: AuthenticationRequest,
  ): Identity | undefined | Promise<Identity | undefined> {
    let found: Identity | undefined | Promise<Identity | undefined>;
    try {
      found = this.#jwt.authenticate(request);
    } catch (error) {
      return this.#fallBack(request, error);
    }
    if (found instanceof Promise) {
      return found.then(
        (identity) => this.#agree(request, identity),
        (error: unknown) => this.#fallBack(request, error),
      );
    }
    return this.#agree(request, found);
  }

  #agree(request: AuthenticationRequest, jwt: Identity | undefined): Identity | undefined {
    const gateway = this.#gateway.authenticate(request);
    if (jwt === undefined || gateway === undefined) return jwt ?? gateway;
    assertSameCaller(jwt, gateway, "the token and the identity headers");
    return jwt;
  }

  #fallBack(request: AuthenticationRequest, error: unknown): Identity {
    const isNoToken =
      error instanceof ServiceError &&
      !(error instanceof BearerRefused || error instanceof BearerUnchecked) &&
      (error.code === "UNAUTHORIZED" || error.code === "UNAVAILABLE");
    const gateway = isNoToken ? this.#gateway.authenticate(request) : undefined;
    if (gateway === undefined) throw error;
    return gateway;
  }
}
