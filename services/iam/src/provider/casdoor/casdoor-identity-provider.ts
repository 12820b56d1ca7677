import { type ProcessLogger, ServiceError } from "svc-access/runtime";
import type {
  CodeExchange,
  IdentityProvider,
  LoginRequest,
  ProviderCall,
  RevocableKind,
  Tokens,
} from "../identity-provider.ts";
import type { IssuedTokens } from "../issued-tokens.ts";
import type { OidcProviderClient } from "../oidc/oidc-provider-client.ts";
import type { CasdoorApi } from "./casdoor-api.ts";

/** What Casdoor as an identity provider consists of. */
export interface CasdoorProviderOptions {
  /** Its part that is OpenID Connect. */
  readonly client: OidcProviderClient;
  readonly api: CasdoorApi;
  readonly tokens: IssuedTokens;
  readonly logger: Pick<ProcessLogger, "error">;
  /** Whether browsers may be sent to a login page without TLS: in development. */
  readonly allowHttpLogin: boolean;
}

/** With this instead of a code, Casdoor makes a user where its application allows guests. */
const GUEST_CODE = "guest-user";
/** The id of a token: the owner and name of its record. */
const TOKEN_ID = /^([^/\s]{1,255})\/([^/\s]{1,255})$/;

/**
 * Casdoor, as far as it differs from any OpenID provider: its access tokens are verified before they
 * are passed on, and it has no endpoint of RFC 7009.
 */
export class CasdoorIdentityProvider implements IdentityProvider {
  readonly #options: CasdoorProviderOptions;

  constructor(options: CasdoorProviderOptions) {
    this.#options = options;
  }

  async loginUrl(request: LoginRequest): Promise<string> {
    return this.#forBrowsers(await this.#options.client.loginUrl(request));
  }

  async exchangeCode(exchange: CodeExchange): Promise<Tokens> {
    if (exchange.code === GUEST_CODE) throw notAccepted();
    return this.#checked(await this.#options.client.exchangeCode(exchange));
  }

  async refresh(refreshToken: string, scopes: readonly string[]): Promise<Tokens> {
    await this.#options.tokens.assertNotEnded(refreshToken);
    return this.#checked(await this.#options.client.refresh(refreshToken, scopes));
  }

  /**
   * Ends both tokens of a login or refresh, whichever is given: Casdoor has one record of them. First
   * at all services, then at Casdoor.
   */
  async revoke(token: string, _: RevocableKind | undefined, call: ProviderCall): Promise<void> {
    await this.#deleteRecord(await this.#options.tokens.end(token), call);
  }

  /** At services first; then the browser ends its session at Casdoor, and the record of the tokens. */
  async endLogin(
    { accessToken, idToken }: Pick<Tokens, "accessToken" | "idToken">,
    returnTo: string,
    call: ProviderCall,
  ): Promise<string | undefined> {
    const { tokens, client } = this.#options;
    const id = await tokens.end(accessToken).catch(withoutId);
    const url = await client.endLogin({ refreshToken: "", idToken }, returnTo);
    // Casdoor finds the session by the record, so that is not deleted before.
    if (url !== undefined) return this.#forBrowsers(url);
    await this.#deleteRecord(id, call);
    return undefined;
  }

  async #deleteRecord(id: string | undefined, call: ProviderCall): Promise<void> {
    const [, owner, name] = TOKEN_ID.exec(id ?? "") ?? [];
    if (owner === undefined || name === undefined) return;
    await this.#options.api.write("delete-token", { owner, name }, call.signal);
  }

  /** The back channel may be plain HTTP inside a cluster, so the client does not check addresses. */
  #forBrowsers(url: string): string {
    const { allowHttpLogin, logger } = this.#options;
    if (url.startsWith("https:") || (allowHttpLogin && url.startsWith("http:"))) return url;
    logger.error({ url: new URL(url).origin }, "a page of Casdoor is not at an https URL");
    throw new ServiceError("UNAVAILABLE", "the identity provider does not answer");
  }

  async #checked(tokens: Tokens): Promise<Tokens> {
    await this.#options.tokens.check(tokens);
    return tokens;
  }
}

/** A token that cannot be ended by its id does not prevent the end of the session. */
function withoutId(error: unknown): undefined {
  if (error instanceof ServiceError && error.code === "FAILED_PRECONDITION") return undefined;
  throw error;
}

function notAccepted(): ServiceError {
  return new ServiceError(
    "INVALID_ARGUMENT",
    "the identity provider does not accept the code or token",
    { details: { error: "invalid_grant" } },
  );
}
