import { ServiceError } from "../error/service-error.ts";
import type { AuthenticationRequest, Authenticator, Identity } from "./authenticator.ts";
import type { TokenTable } from "./token-table.ts";

/** Recognises other services, and the system, by their secret tokens. */
export class InternalTokenAuthenticator implements Authenticator {
  readonly name = "internal";
  readonly #header: string;
  readonly #tokens: TokenTable;

  constructor(header: string, tokens: TokenTable) {
    this.#header = header.toLowerCase();
    this.#tokens = tokens;
  }

  authenticate({ headers }: AuthenticationRequest): Identity | undefined | Promise<Identity> {
    const values = headers.all(this.#header);
    if (values.length === 0) return undefined;
    // A second value must not be passed over, and an empty one is compared as any other.
    const token = values.length === 1 ? (values[0] as string) : "";
    const identity = this.#tokens.find(token);
    if (identity !== undefined) return identity;
    // It may be in a file that was written only just now.
    const looked = this.#tokens.lookAgain();
    if (looked === undefined) throw wrongToken();
    return looked.then(() => {
      const found = this.#tokens.find(token);
      if (found === undefined) throw wrongToken();
      return found;
    });
  }
}

function wrongToken(): ServiceError {
  return new ServiceError("UNAUTHORIZED", "wrong internal token");
}
