import { ServiceError } from "svc-access/runtime";
import type {
  CodeExchange,
  IdentityProvider,
  LoginRequest,
  RevocableKind,
  Tokens,
} from "../identity-provider.ts";
import type { IssuedTokens } from "../issued-tokens.ts";
import type { OidcProviderClient } from "./oidc-provider-client.ts";

/** What an OpenID provider elsewhere consists of. */
export interface OidcIdentityProviderOptions {
  /** Calls its endpoints. */
  readonly client: OidcProviderClient;
  /** Ends its tokens at services. */
  readonly tokens: IssuedTokens;
}

/**
 * Any OpenID provider elsewhere. It does not report to services which tokens it has ended, and services
 * verify JWTs by themselves, so tokens end at services first, then at the provider.
 */
export class OidcIdentityProvider implements IdentityProvider {
  readonly #options: OidcIdentityProviderOptions;

  constructor(options: OidcIdentityProviderOptions) {
    this.#options = options;
  }

  loginUrl(request: LoginRequest): Promise<string> {
    return this.#options.client.loginUrl(request);
  }

  exchangeCode(exchange: CodeExchange): Promise<Tokens> {
    return this.#options.client.exchangeCode(exchange);
  }

  async refresh(refreshToken: string, scopes: readonly string[]): Promise<Tokens> {
    await this.#options.tokens.assertNotEnded(refreshToken);
    return this.#options.client.refresh(refreshToken, scopes);
  }

  /**
   * Ends a token at services, where it is a JWT that they accept, then at the provider. An opaque token
   * is not accepted by services, and ends at the provider only.
   *
   * @throws ServiceError FAILED_PRECONDITION for an access token without `jti`: services accept it until
   * it expires, although it has ended at the provider
   */
  async revoke(token: string, kind: RevocableKind | undefined): Promise<void> {
    const { client, tokens } = this.#options;
    const ending = await tokens.tryEnd(token);
    try {
      await client.revoke(token, kind);
    } catch (error) {
      // A token that no service accepts needs no revocation endpoint.
      if (ending.outcome !== "ended" || !cannotRevoke(error)) throw error;
    }
    if (ending.outcome === "without_id" && ending.isAccessToken) {
      throw new ServiceError(
        "FAILED_PRECONDITION",
        "the token has no id (jti): services accept it until it expires",
      );
    }
  }

  /** The access token ends at services, then the login at the provider. */
  async endLogin(
    tokens: Pick<Tokens, "accessToken" | "refreshToken" | "idToken">,
    returnTo: string,
  ): Promise<string | undefined> {
    await this.#options.tokens.tryEnd(tokens.accessToken);
    return this.#options.client.endLogin(tokens, returnTo);
  }
}

/** Whether the provider has no revocation endpoint, or one that does not take this kind of token. */
function cannotRevoke(error: unknown): boolean {
  if (!(error instanceof ServiceError)) return false;
  return error.code === "UNIMPLEMENTED" || error.details?.["error"] === "unsupported_token_type";
}
