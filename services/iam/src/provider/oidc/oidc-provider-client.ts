import type { ClientAuth, Configuration } from "openid-client";
import { ServiceError } from "svc-access/runtime";
import type {
  CodeExchange,
  IdentityProvider,
  LoginRequest,
  RevocableKind,
  Tokens,
} from "../identity-provider.ts";
import { boundedFetch } from "./bounded-fetch.ts";
import type { OidcClientOptions } from "./oidc-client-options.ts";
import { explainProviderError, ProviderDocumentError } from "./provider-errors.ts";

/** How long what discovery found is used. */
const DISCOVERY_TTL_MS = 10 * 60_000;

/** Any OpenID provider, by its standard endpoints. */
export class OidcProviderClient implements IdentityProvider {
  readonly #options: OidcClientOptions;
  #discovered:
    | { readonly configuration: Promise<Configuration>; readonly since: number }
    | undefined;

  constructor(options: OidcClientOptions) {
    this.#options = options;
  }

  async loginUrl({ redirectUri, state, codeChallenge, nonce }: LoginRequest): Promise<string> {
    const { buildAuthorizationUrl } = await openidClient();
    const configuration = await this.#configuration();
    const parameters = {
      redirect_uri: redirectUri,
      scope: this.#options.scopes.join(" "),
      state,
      ...(codeChallenge === ""
        ? {}
        : { code_challenge: codeChallenge, code_challenge_method: "S256" }),
      ...(nonce === "" ? {} : { nonce }),
    };
    try {
      return buildAuthorizationUrl(configuration, parameters).href;
    } catch (error) {
      // The endpoint that the provider names is not a web address.
      throw explainProviderError(error, this.#options.logger);
    }
  }

  async exchangeCode(exchange: CodeExchange): Promise<Tokens> {
    const { code, redirectUri, codeVerifier, nonce, issuer, isWholeCallback } = exchange;
    if (
      issuer !== ""
        ? issuer !== this.#options.issuer
        : isWholeCallback && (await this.#sendsIssuer())
    ) {
      throw new ServiceError("INVALID_ARGUMENT", "the callback is from another issuer");
    }
    const parameters = {
      code,
      redirect_uri: redirectUri,
      ...(codeVerifier === "" ? {} : { code_verifier: codeVerifier }),
    };
    // The nonce is checked here: openid-client demands one wherever the token has one.
    return this.#grant("authorization_code", parameters, nonce);
  }

  async refresh(refreshToken: string, scopes: readonly string[]): Promise<Tokens> {
    const parameters = {
      refresh_token: refreshToken,
      ...(scopes.length === 0 ? {} : { scope: scopes.join(" ") }),
    };
    return this.#grant("refresh_token", parameters, "");
  }

  async revoke(token: string, kind: RevocableKind | undefined): Promise<void> {
    const { tokenRevocation } = await openidClient();
    const configuration = await this.#configuration();
    if (configuration.serverMetadata().revocation_endpoint === undefined) {
      throw new ServiceError("UNIMPLEMENTED", "the identity provider cannot revoke tokens");
    }
    try {
      await tokenRevocation(
        configuration,
        token,
        kind === undefined ? {} : { token_type_hint: kind },
      );
    } catch (error) {
      throw explainProviderError(error, this.#options.logger);
    }
  }

  async endLogin(
    { refreshToken, idToken }: Pick<Tokens, "refreshToken" | "idToken">,
    returnTo: string,
  ): Promise<string | undefined> {
    const { buildEndSessionUrl } = await openidClient();
    const configuration = await this.#configuration();
    const { revocation_endpoint, end_session_endpoint } = configuration.serverMetadata();
    if (revocation_endpoint !== undefined && refreshToken !== "") {
      // It is logged; the session at the provider ends all the same.
      await this.revoke(refreshToken, "refresh_token").catch(() => undefined);
    }
    if (end_session_endpoint === undefined) return undefined;
    const parameters = {
      post_logout_redirect_uri: returnTo,
      ...(idToken === "" ? {} : { id_token_hint: idToken }),
    };
    try {
      return buildEndSessionUrl(configuration, parameters).href;
    } catch (error) {
      // The endpoint that the provider names is not a web address.
      throw explainProviderError(error, this.#options.logger);
    }
  }

  /** Whether the callbacks of the provider name it (RFC 9207). */
  async #sendsIssuer(): Promise<boolean> {
    const configuration = await this.#configuration();
    const metadata = configuration.serverMetadata();
    return metadata.authorization_response_iss_parameter_supported === true;
  }

  async #grant(
    grantType: string,
    parameters: Record<string, string>,
    nonce: string,
  ): Promise<Tokens> {
    const { genericGrantRequest } = await openidClient();
    const configuration = await this.#configuration();
    try {
      const response = await genericGrantRequest(configuration, grantType, parameters);
      if (nonce !== "" && response.claims()?.nonce !== nonce) {
        throw new ServiceError("INVALID_ARGUMENT", "the nonce is not that of the login");
      }
      const seconds = response.expiresIn();
      return {
        accessToken: response.access_token,
        refreshToken: response.refresh_token ?? "",
        idToken: response.id_token ?? "",
        expireTime: seconds === undefined ? undefined : Date.now() + seconds * 1000,
        scopes: response.scope?.split(" ").filter((scope) => scope !== "") ?? [],
      };
    } catch (error) {
      throw explainProviderError(error, this.#options.logger);
    }
  }

  /** The provider's endpoints; calls that come while they are read share one reading. */
  #configuration(): Promise<Configuration> {
    const now = performance.now();
    if (this.#discovered === undefined || now - this.#discovered.since > DISCOVERY_TTL_MS) {
      const configuration = this.#discover();
      const discovered = { configuration, since: now };
      this.#discovered = discovered;
      configuration.catch(() => {
        if (this.#discovered === discovered) this.#discovered = undefined;
      });
    }
    return this.#discovered.configuration;
  }

  async #discover(): Promise<Configuration> {
    const {
      issuer,
      clientId,
      discoveryUrl,
      endpoints = {},
      isInProcess,
      allowHttp,
      fetch,
      logger,
    } = this.#options;
    const openid = await openidClient();
    // Signatures of ID tokens are verified, although they come from the provider itself.
    const execute = isInProcess === true ? [] : [openid.enableNonRepudiationChecks];
    if (allowHttp) execute.push(openid.allowInsecureRequests);
    const authentication = this.#authentication(openid);
    const bounded = boundedFetch(fetch) as never;
    try {
      const found = await openid.discovery(
        new URL(discoveryUrl ?? issuer),
        clientId,
        undefined,
        authentication,
        { [openid.customFetch]: bounded, execute },
      );
      const { supportsPKCE: _, ...metadata } = found.serverMetadata();
      // openid-client does not compare it for the address of a document.
      if (discoveryUrl !== undefined && metadata.issuer !== issuer) {
        throw new ProviderDocumentError(
          `the discovery document has the issuer ${metadata.issuer}, not ${issuer}`,
        );
      }
      if (endpoints.token === undefined && endpoints.keySet === undefined) return found;
      const { token = metadata.token_endpoint, keySet = metadata.jwks_uri } = endpoints;
      const configuration = new openid.Configuration(
        {
          ...metadata,
          ...(token === undefined ? {} : { token_endpoint: token }),
          ...(keySet === undefined ? {} : { jwks_uri: keySet }),
        },
        clientId,
        undefined,
        authentication,
      );
      configuration[openid.customFetch] = bounded;
      for (const extend of execute) extend(configuration);
      return configuration;
    } catch (error) {
      throw explainProviderError(error, logger);
    }
  }

  #authentication({ ClientSecretBasic, ClientSecretPost }: OpenidClient): ClientAuth {
    const { clientSecret, authentication } = this.#options;
    return authentication === "post"
      ? ClientSecretPost(clientSecret)
      : ClientSecretBasic(clientSecret);
  }
}

type OpenidClient = typeof import("openid-client");

/** It is loaded when the first login needs it. */
const openidClient = () => import("openid-client");
