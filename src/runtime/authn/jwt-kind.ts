import { invalidToken } from "./invalid-token.ts";
import type { JsonObject } from "./jwt-parts.ts";

/** Where providers say what a token is for: Casdoor, Cognito, Keycloak. */
const KIND_CLAIMS = ["tokenType", "TokenType", "token_type", "token_use", "typ"] as const;
const ACCESS_KINDS: ReadonlySet<string> = new Set(["access", "accesstoken", "bearer", "atjwt"]);
/** What binds an ID token to its code, access token or login. */
const ID_TOKEN_CLAIMS = ["at_hash", "c_hash", "s_hash", "nonce"] as const;

/**
 * Refuses refresh, ID and logout tokens: the provider signs them with the same key.
 *
 * @param isAccessToken whether the type in the header says so
 * @throws ServiceError UNAUTHORIZED where it is no access token
 */
export function checkTokenKind(claims: JsonObject, isAccessToken: boolean): void {
  let isAccess = isAccessToken;
  for (const name of KIND_CLAIMS) {
    const kind = claims[name];
    if (kind === undefined || kind === "") continue;
    if (typeof kind !== "string" || !ACCESS_KINDS.has(kind.toLowerCase().replace(/[^a-z]/g, ""))) {
      throw invalidToken("it is no access token");
    }
    isAccess = true;
  }
  if (Object.hasOwn(claims, "events")) throw invalidToken("it is no access token");
  // Casdoor's access token has the nonce of the login too, but says what it is.
  if (!isAccess && ID_TOKEN_CLAIMS.some((name) => Object.hasOwn(claims, name))) {
    throw invalidToken("it is no access token");
  }
}
