import { randomUUID } from "node:crypto";
import { type CryptoKey, compactVerify, decodeProtectedHeader, importJWK, type JWK } from "jose";
import type { Revocations } from "../../../people/sessions/revocations.ts";
import { ALGORITHM, type SigningKey } from "../keys/signing-keys.ts";
import { TOKEN_ENDPOINTS } from "../request/endpoints.ts";
import type { PresentedToken } from "../request/request-scope.ts";

const MAX_LENGTH = 4096;

/** What `oidc-provider` gets of a request. */
export interface PresentedRequest {
  /** The form to send to it. */
  readonly sent: URLSearchParams | undefined;
  /** The access token that the handle in the form is for. */
  readonly presented?: PresentedToken;
}

/**
 * Replaces the JWT of a request that introspects or revokes it by a handle that `oidc-provider` can look
 * up; it refuses to handle JWTs.
 *
 * @param path below the issuer
 * @param form as it was sent; undefined for a request without one
 */
export async function presentTokenOf(
  path: string,
  form: URLSearchParams | undefined,
  own: OwnTokens,
): Promise<PresentedRequest> {
  if (form === undefined || !TOKEN_ENDPOINTS.has(path)) return { sent: form };
  const [token, ...others] = form.getAll("token");
  // Two of them are refused.
  if (token === undefined || others.length > 0 || !looksLikeJwt(token)) return { sent: form };
  const presented = await presentAccessToken(token, own);
  // Otherwise nothing is found, as for any token that is not valid.
  const sent = new URLSearchParams(form);
  sent.set("token", presented?.handle ?? "invalid");
  return presented === undefined ? { sent } : { presented, sent };
}

/** What is needed to verify our own access tokens. */
export interface OwnTokens {
  readonly issuer: string;
  /** The current keys. */
  readonly keys: readonly SigningKey[];
  readonly revocations: Pick<Revocations, "isRevoked">;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/**
 * Verifies an access token that a client wants to introspect or revoke.
 *
 * @returns what `oidc-provider` finds by the handle; undefined if the token is not one of ours, has
 * expired or was revoked
 */
async function presentAccessToken(
  token: string,
  { issuer, keys, revocations, now }: OwnTokens,
): Promise<PresentedToken | undefined> {
  const claims = await verifiedClaims(token, keys);
  if (claims === undefined || claims["iss"] !== issuer) return undefined;
  const { jti, sid, sub, iat, exp, aud, scope, client_id, ...rest } = claims;
  if (typeof jti !== "string" || typeof sub !== "string" || typeof sid !== "string") {
    return undefined;
  }
  if (typeof iat !== "number" || typeof exp !== "number" || exp * 1000 <= now()) return undefined;
  const isService = rest["subject_type"] === "service_account";
  const subjectType = isService ? "service_account" : "user";
  if (await revocations.isRevoked({ jti, sid, sub, subjectType, iat })) return undefined;
  const model = isService ? "ClientCredentials" : "AccessToken";
  const { iss: _issuer, ...extra } = rest;
  const payload = {
    kind: model,
    jti,
    iat,
    exp,
    aud,
    scope,
    clientId: client_id,
    extra: { ...extra, sid, ...(isService ? { sub } : {}) },
    ...(isService ? {} : { accountId: sub, sid }),
  };
  // Random, so that nobody else can present it.
  return { handle: randomUUID(), model, payload };
}

async function verifiedClaims(
  token: string,
  keys: readonly SigningKey[],
): Promise<Readonly<Record<string, unknown>> | undefined> {
  if (token.length > MAX_LENGTH || !isCanonical(token)) return undefined;
  try {
    const { kid, typ, alg } = decodeProtectedHeader(token);
    const key = keys.find((one) => one.kid === kid);
    if (key === undefined || typ !== "at+jwt" || alg !== ALGORITHM) return undefined;
    const { kty, n, e } = key;
    const verifier = await importJWK({ kty, n, e } as JWK, ALGORITHM);
    const { payload } = await compactVerify(token, verifier as CryptoKey, {
      algorithms: [ALGORITHM],
    });
    return JSON.parse(new TextDecoder().decode(payload));
  } catch {
    return undefined;
  }
}

/** Whether it is the one text of its bytes; `jose` also accepts others. */
function isCanonical(token: string): boolean {
  return token
    .split(".")
    .every((part) => Buffer.from(part, "base64url").toString("base64url") === part);
}

/** Whether a text has the form of a JWT; only of these are there none in the database. */
function looksLikeJwt(text: string): boolean {
  return text.split(".").length === 3;
}
