import { randomUUID } from "node:crypto";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import type { CasdoorUser } from "./casdoor-records.ts";

/** The certificate of an application. */
export interface CasdoorKey {
  readonly name: string;
  readonly privateKey: Awaited<ReturnType<typeof generateKeyPair>>["privateKey"];
  readonly jwk: object;
}

export async function casdoorKey(name: string): Promise<CasdoorKey> {
  const { privateKey, publicKey } = await generateKeyPair("RS256");
  const jwk = { ...(await exportJWK(publicKey)), kid: name, alg: "RS256", use: "sig" };
  return { name, privateKey, jwk };
}

/** A record of Casdoor: the tokens of one login or refresh. */
export interface TokenRecord {
  readonly owner: string;
  readonly name: string;
  readonly user: CasdoorUser;
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly scope: string;
}

/** What tokens are made of. */
export interface TokenParts {
  readonly issuer: string;
  readonly clientId: string;
  readonly key: CasdoorKey;
  readonly user: CasdoorUser;
  readonly scope: string;
  readonly nonce: string;
  /** Changes of the claims, for hostile ones. */
  readonly claims?: Readonly<Record<string, unknown>>;
  /** Seconds. */
  readonly expiresIn: number;
}

/** Issues the pair of a login: the format `JWT`, where the ID token is the access token. */
export async function issueTokens(parts: TokenParts): Promise<TokenRecord> {
  const { issuer, clientId, key, user, scope, nonce, claims = {}, expiresIn } = parts;
  const name = randomUUID();
  const now = Math.floor(Date.now() / 1000);
  const registered = {
    iss: issuer,
    sub: user.id,
    aud: [clientId],
    exp: now + expiresIn,
    nbf: now,
    iat: now,
    jti: `admin/${name}`,
    azp: clientId,
    scope,
  };
  const sign = (payload: Record<string, unknown>) =>
    new SignJWT({ ...payload, ...claims })
      .setProtectedHeader({ alg: "RS256", kid: key.name, typ: "JWT" })
      .sign(key.privateKey);
  const ofUser = {
    ...user,
    roles: [{ owner: user.owner, name: "auditor", isEnabled: true }],
    permissions: [],
    tag: "staff",
  };
  const accessToken = await sign({
    ...ofUser,
    ...registered,
    tokenType: "access-token",
    ...(nonce === "" ? {} : { nonce }),
  });
  const refreshToken = await sign({ ...registered, tokenType: "refresh-token" });
  return { owner: "admin", name, user, accessToken, refreshToken, scope };
}
