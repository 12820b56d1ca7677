import { type SigningKey, signToken } from "../../authn/jwt/tokens.ts";
import type { Field } from "./raw-http.ts";
import { AUDIENCE } from "./world.ts";

/** Makes tokens of an issuer with the real clock. */
export interface TokenSource {
  claims(changes?: Record<string, unknown>): Record<string, unknown>;
  token(changes?: Record<string, unknown>, header?: Record<string, unknown>): string;
  bearer(changes?: Record<string, unknown>, header?: Record<string, unknown>): Field;
}

export const nowSeconds = (): number => Math.floor(Date.now() / 1000);

export function tokenSource(issuer: () => string, key: SigningKey): TokenSource {
  const source: TokenSource = {
    claims: (changes = {}) => ({
      iss: issuer(),
      aud: AUDIENCE,
      sub: "alice",
      iat: nowSeconds() - 10,
      exp: nowSeconds() + 600,
      ...changes,
    }),
    token: (changes, header) => signToken(key, source.claims(changes), header),
    bearer: (changes, header) => ["Authorization", `Bearer ${source.token(changes, header)}`],
  };
  return source;
}
