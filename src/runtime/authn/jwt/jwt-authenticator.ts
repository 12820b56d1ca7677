import type { AuthenticationRequest, Authenticator, Identity } from "../identity/authenticator.ts";
import { bearerToken } from "./bearer-token.ts";
import type { VerifiedTokens } from "./verified-tokens.ts";

/** Recognises callers by the access tokens of one provider. */
export class JwtAuthenticator implements Authenticator {
  readonly name = "jwt";
  readonly #tokens: VerifiedTokens;

  constructor(tokens: VerifiedTokens) {
    this.#tokens = tokens;
  }

  authenticate({
    headers,
  }: AuthenticationRequest): Identity | undefined | Promise<Identity | undefined> {
    const text = bearerToken(headers);
    if (text === undefined) return undefined;
    const token = this.#tokens.verify(text);
    return token instanceof Promise ? token.then(({ identity }) => identity) : token.identity;
  }
}
