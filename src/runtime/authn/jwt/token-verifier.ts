import type { Logger } from "../../../common/logger.ts";
import type { Principal } from "../../call/call-context.ts";
import type { ServiceConfig } from "../../configuration/service-config.ts";
import { StartUpError } from "../../error/start-up-error.ts";
import { NO_EVENTS } from "../../events/runtime-events.ts";
import {
  invalidToken,
  MAX_TOKEN_LENGTH,
  type TokenRefusal,
  TokenRefusedError,
} from "./bearer-token.ts";
import { configuredTokens } from "./configured-tokens.ts";
import type { RevocationList } from "./revocation-list.ts";

/** What a token verifier needs besides the configuration. */
export interface TokenVerifierOptions {
  /** Which tokens are revoked; `new MemoryRevocationList()` if none is. */
  readonly revocations: RevocationList;
  /** For failures to read the keys. */
  readonly logger: Logger;
  /**
   * Reads the provider's key set (RFC 7517) if it is in this process; absent, it is fetched from
   * `discovery_url` or `jwks_url`. It is read again as those are: when it is too old, and for a key
   * that is not in it.
   */
  readonly keySet?: () => Promise<object>;
  /** Milliseconds since the epoch; `Date.now` if absent. */
  readonly now?: () => number;
}

/** A token that is valid now. */
export interface ActiveToken {
  /** It is valid. */
  readonly active: true;
  /** Whose token it is. */
  readonly principal: Principal;
  /** The claim `iss`. */
  readonly issuer: string;
  /** The claim `aud`: all audiences, one of which is accepted. */
  readonly audiences: readonly string[];
  /** The claim `jti`; undefined if the token has none. */
  readonly tokenId: string | undefined;
  /** The claim `sid`: the session that it belongs to; undefined if the token has none. */
  readonly sessionId: string | undefined;
  /** The claim `iat`, in milliseconds since the epoch. */
  readonly issuedAt: number;
  /** The claim `exp`, in milliseconds since the epoch; it is accepted for the clock skew longer. */
  readonly expiresAt: number;
}

/** A token that is not valid now. */
export interface InactiveToken {
  /** It is not valid. */
  readonly active: false;
  /** Why; `invalid` unless its signature is valid. */
  readonly reason: TokenRefusal;
}

/** Verifies access tokens that are not the credential of the call. */
export interface TokenVerifier {
  /**
   * Verifies an access token, by the same rules as the credential of a call.
   *
   * @param token in compact form, without "Bearer"
   * @throws ServiceError UNAVAILABLE if that cannot be known now: the keys cannot be read, or it is
   * not known what is revoked
   */
  verify(token: string): Promise<ActiveToken | InactiveToken>;
}

/**
 * A verifier of access tokens of the provider in `security.authn.oidc`, for services that are asked
 * about tokens. The tokens of calls are verified by the server itself. Verified tokens are
 * remembered as configured; whether they are revoked is looked up each time.
 *
 * @param config whose `security.authn.oidc` and `security.authn.cache_ttl_ns` it uses, in any mode
 * @throws StartUpError if the configuration has no `security.authn.oidc`
 *
 * @example
 * ```ts
 * const revocations = new MemoryRevocationList();
 * const verifier = createTokenVerifier(configuration.config, { revocations, logger });
 * const checkToken: UnaryHandler<{ token: string }, { active: boolean; reason: string }> = async ({
 *   token,
 * }) => {
 *   const result = await verifier.verify(token);
 *   return { active: result.active, reason: result.active ? "" : result.reason };
 * };
 * ```
 */
export function createTokenVerifier(
  config: ServiceConfig,
  { revocations, logger, keySet, now }: TokenVerifierOptions,
): TokenVerifier {
  const { oidc, cache_ttl_ns } = config.security.authn;
  if (oidc === undefined) {
    throw new StartUpError(["security.authn.oidc is missing: tokens cannot be verified"]);
  }
  const events = NO_EVENTS;
  const tokens = configuredTokens(oidc, cache_ttl_ns, { revocations, events, logger, keySet, now });
  return {
    async verify(text) {
      try {
        if (typeof text !== "string") throw invalidToken("it is not a JWT");
        if (text.length > MAX_TOKEN_LENGTH) throw invalidToken("it is too long");
        const token = await tokens.verify(text);
        return {
          active: true,
          principal: token.identity.principal,
          issuer: oidc.issuer,
          audiences: token.audiences,
          tokenId: token.id,
          sessionId: token.sessionId,
          issuedAt: token.iat,
          expiresAt: token.expiresAt,
        };
      } catch (error) {
        if (error instanceof TokenRefusedError) return { active: false, reason: error.refusal };
        throw error;
      }
    },
  };
}
