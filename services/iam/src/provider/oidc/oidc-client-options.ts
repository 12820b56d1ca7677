import type { ProcessLogger } from "svc-access/runtime";
import type { ProviderFetch } from "./bounded-fetch.ts";

/** The client that this service is at an OpenID provider. */
export interface OidcClientOptions {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scopes: readonly string[];
  readonly logger: Pick<ProcessLogger, "error">;
  /**
   * Whether the provider is in this process: its ID tokens need no check of their signature, which fails
   * for a while after an urgent rotation of the keys. False if absent.
   */
  readonly isInProcess?: boolean;
  /** Whether the provider may be called without TLS: on loopback, or in development. */
  readonly allowHttp: boolean;
  /** The discovery document; undefined: that of the issuer. */
  readonly discoveryUrl?: string | undefined;
  /** Endpoints that are used instead of those of the discovery document, such as internal ones. */
  readonly endpoints?: OidcEndpoints;
  /** How the client sends its secret; `basic` if absent. */
  readonly authentication?: "basic" | "post";
  readonly fetch?: ProviderFetch;
}

/** Endpoints of a provider that this service calls itself. */
export interface OidcEndpoints {
  readonly token?: string | undefined;
  readonly keySet?: string | undefined;
}
