import { AsyncLocalStorage } from "node:async_hooks";
import { randomBytes } from "node:crypto";
import { decodeJwt } from "jose";
import inject from "light-my-request";
import type { ProcessLogger } from "svc-access/runtime";
import type {
  CodeExchange,
  IdentityProvider,
  LoginRequest,
  ProviderCall,
  Tokens,
} from "../identity-provider.ts";
import type { ProviderFetch } from "../oidc/bounded-fetch.ts";
import { OidcProviderClient } from "../oidc/oidc-provider-client.ts";
import type { ClientDeclaration } from "./client-declaration.ts";
import type { EmbeddedProvider } from "./embedded-provider.ts";

/** How this service is a client of its own provider. */
export interface OwnClientOptions {
  /** `iam.pages.name`, by which people know the service. */
  readonly name: string;
  /** UUID. */
  readonly clientId: string;
  readonly redirectUris: readonly string[];
  readonly scopes: readonly string[];
}

/** The client that this service is at its own provider, with a secret that nobody else ever has. */
export class OwnClient {
  readonly #options: OwnClientOptions;
  readonly #secret = randomBytes(32).toString("base64url");

  constructor(options: OwnClientOptions) {
    this.#options = options;
  }

  /** How the provider knows it. */
  declaration(): ClientDeclaration {
    const { name, clientId, redirectUris } = this.#options;
    return {
      id: clientId,
      name,
      flows: ["code"],
      secret: this.#secret,
      redirectUris,
      postLogoutRedirectUris: [],
      asksConsent: false,
    };
  }

  /** The provider as the handlers see it. */
  connect(provider: EmbeddedProvider, logger: Pick<ProcessLogger, "error">): IdentityProvider {
    const { clientId, scopes } = this.#options;
    return new EmbeddedIdentityProvider(provider, (fetch) => {
      const issuer = provider.issuer;
      return new OidcProviderClient({
        issuer,
        clientId,
        clientSecret: this.#secret,
        scopes,
        logger,
        // Nothing leaves the process.
        isInProcess: true,
        allowHttp: true,
        fetch,
      });
    });
  }
}

/**
 * The embedded provider as the handlers see any other: by its endpoints, in this process. What it
 * records belongs to the call that it works for.
 */
class EmbeddedIdentityProvider implements IdentityProvider {
  readonly #calls = new AsyncLocalStorage<ProviderCall>();
  readonly #provider: EmbeddedProvider;
  readonly #client: OidcProviderClient;

  constructor(provider: EmbeddedProvider, connect: (fetch: ProviderFetch) => OidcProviderClient) {
    this.#provider = provider;
    this.#client = connect((url, init) => {
      const call = this.#calls.getStore();
      if (call === undefined) throw new Error("the provider is asked outside of a call");
      return fetchInside(provider, call, url, init);
    });
  }

  loginUrl(request: LoginRequest, call: ProviderCall): Promise<string> {
    return this.#calls.run(call, () => this.#client.loginUrl(request));
  }

  exchangeCode(exchange: CodeExchange, call: ProviderCall): Promise<Tokens> {
    return this.#calls.run(call, () => this.#client.exchangeCode(exchange));
  }

  refresh(refreshToken: string, scopes: readonly string[], call: ProviderCall): Promise<Tokens> {
    return this.#calls.run(call, () => this.#client.refresh(refreshToken, scopes));
  }

  revoke(
    token: string,
    kind: "access_token" | "refresh_token" | undefined,
    call: ProviderCall,
  ): Promise<void> {
    return this.#calls.run(call, () => this.#client.revoke(token, kind));
  }

  /** In this process, so that the browser is asked nothing. */
  async endLogin(
    { accessToken }: Pick<Tokens, "accessToken">,
    _returnTo: string,
    call: ProviderCall,
  ): Promise<undefined> {
    const { sid, sub } = decodeJwt(accessToken);
    if (typeof sid !== "string" || typeof sub !== "string") return;
    await this.#provider.within({ call }, () => this.#provider.endSessionOf(sid, sub));
  }
}

/** The browser is not the one that calls. */
const NO_HEADERS = { all: () => [] };

/** Asks the provider as a request from outside would, without a connection. */
async function fetchInside(
  provider: EmbeddedProvider,
  call: ProviderCall,
  url: string,
  { method = "GET", headers, body }: RequestInit,
): Promise<Response> {
  const { pathname, search } = new URL(url);
  const sent = body == null ? new Uint8Array() : Buffer.from(String(body));
  const answer = await inject(
    (incoming, response) => {
      const rest = { method, path: pathname, headers: NO_HEADERS, body: async () => sent };
      const request = { incoming, response, ...rest, isOwn: true };
      provider.handle(request, call).catch((error: unknown) => response.destroy(error as Error));
    },
    {
      method: method as "GET" | "POST",
      url: `${pathname}${search}`,
      headers: Object.fromEntries(new Headers(headers ?? {})),
      payload: Buffer.from(sent),
    },
  );
  const received = new Headers();
  for (const [name, value] of Object.entries(answer.headers)) {
    for (const one of [value].flat()) if (one !== undefined) received.append(name, String(one));
  }
  const hasBody = answer.rawPayload.length > 0;
  return new Response(hasBody ? new Uint8Array(answer.rawPayload) : null, {
    status: answer.statusCode,
    headers: received,
  });
}
