import type { CallAudit } from "svc-access/runtime";

/** What a provider works for: a call, or a session whose tokens are refreshed. */
export interface ProviderCall {
  /** The id by which the request is found in the log; absent outside of requests. */
  readonly requestId?: string;
  /** The address of the client; empty if it is not known. */
  readonly clientAddress: string;
  /** Aborts when nobody waits any more. */
  readonly signal: AbortSignal;
  /** Where events are recorded. */
  readonly audit: Pick<CallAudit, "record">;
}

/** A login that is about to begin. */
export interface LoginRequest {
  readonly redirectUri: string;
  readonly state: string;
  /** The PKCE challenge (S256); empty where the caller uses none. */
  readonly codeChallenge: string;
  /** Empty where the caller uses none. */
  readonly nonce: string;
}

/** The code of a callback, with what the login was started with. */
export interface CodeExchange {
  readonly code: string;
  readonly redirectUri: string;
  /** Empty where the login was started without a challenge. */
  readonly codeVerifier: string;
  /** Empty: not checked. */
  readonly nonce: string;
  /** The `iss` of the callback (RFC 9207). Empty: not checked. */
  readonly issuer: string;
  /** Whether it must have an `iss` if the provider announces one: the caller has seen the whole callback. */
  readonly isWholeCallback?: boolean;
}

/** What an identity provider issues. A text that it did not give is empty. */
export interface Tokens {
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly idToken: string;
  /** Milliseconds since the epoch; undefined where the provider does not say. */
  readonly expireTime: number | undefined;
  readonly scopes: readonly string[];
}

/** The kinds of tokens that can be revoked. */
export type RevocableKind = "access_token" | "refresh_token";

/**
 * The identity provider as the handlers of IAMAuthService see it, whichever kind it is.
 *
 * Its methods work for a call. They are bounded in time, and continue where the caller has cancelled: an exchanged code or refresh
 * token is used up. They throw a ServiceError: INVALID_ARGUMENT where it refuses the code or the token,
 * UNAVAILABLE where it does not answer or does not work.
 */
export interface IdentityProvider {
  /** Where a browser logs in. */
  loginUrl(request: LoginRequest, call: ProviderCall): Promise<string>;
  /** Exchanges the code of a callback. */
  exchangeCode(exchange: CodeExchange, call: ProviderCall): Promise<Tokens>;
  /**
   * Exchanges a refresh token, which ends.
   *
   * @param scopes those to ask for; empty: all that were granted
   */
  refresh(refreshToken: string, scopes: readonly string[], call: ProviderCall): Promise<Tokens>;
  /**
   * Ends a token; one that the provider does not know has ended.
   *
   * @param kind undefined where the caller does not know
   */
  revoke(token: string, kind: RevocableKind | undefined, call: ProviderCall): Promise<void>;
  /**
   * Ends the login that tokens come from, for all its clients.
   *
   * @param returnTo where a browser goes that must visit the provider for it
   * @returns the address at the provider that the browser must visit (OpenID Connect RP-Initiated
   * Logout); undefined if nothing is left to do
   */
  endLogin(
    tokens: Pick<Tokens, "accessToken" | "refreshToken" | "idToken">,
    returnTo: string,
    call: ProviderCall,
  ): Promise<string | undefined>;
}
