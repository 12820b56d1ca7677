import { compactVerify, errors } from "jose";
import { ServiceError } from "../error/service-error.ts";
import type { Principal } from "../principal.ts";
import { invalidToken } from "./invalid-token.ts";
import { type ClaimRules, checkClaims, type TokenClaims } from "./jwt-claims.ts";
import { checkTokenHeader } from "./jwt-header.ts";
import { readJsonObject, readTokenHeader } from "./jwt-parts.ts";
import { principalOfClaims } from "./jwt-principal.ts";
import type { KeySet } from "./key-set.ts";
import type { VerificationKey } from "./verification-key.ts";

/** What tokens are verified by. */
export interface JwtRules extends ClaimRules {
  readonly algorithms: ReadonlySet<string>;
}

/** A token that was verified. */
export interface VerifiedToken extends TokenClaims {
  readonly principal: Principal;
  /** The key that it was verified with. */
  readonly key: VerificationKey;
}

/**
 * Verifies an access token: its form, its header, its signature, and only then what it claims.
 *
 * @throws ServiceError UNAUTHORIZED where it is not acceptable; UNAVAILABLE where the
 * provider's keys cannot be had
 */
export async function verifyJwt(
  token: string,
  keys: KeySet,
  rules: JwtRules,
  now: () => number,
): Promise<VerifiedToken> {
  const header = checkTokenHeader(readTokenHeader(token), rules.algorithms);
  const key = await keys.find(header.keyId, header.algorithm);
  if (key === undefined) throw invalidToken("its key is not known");
  const payload = await verifySignature(token, key, header.algorithm);
  const claims = readJsonObject(payload);
  const checked = checkClaims(claims, header.isAccessToken, rules, now());
  return { ...checked, principal: principalOfClaims(claims, checked.subject), key };
}

async function verifySignature(
  token: string,
  { key }: VerificationKey,
  algorithm: string,
): Promise<Uint8Array> {
  try {
    const { payload } = await compactVerify(token, key, { algorithms: [algorithm] });
    return payload;
  } catch (error) {
    if (error instanceof errors.JOSEError) throw invalidToken("its signature is wrong", error);
    throw new ServiceError("INTERNAL", undefined, { cause: error });
  }
}
