import { createPublicKey, type JsonWebKey, type KeyObject } from "node:crypto";
import type { JsonObject } from "./jwt-header.ts";

/** A public key of the provider, and what it may verify. */
export interface VerificationKey {
  readonly keyId: string | undefined;
  /** By the key's own type, its `alg` and the configuration; never by the token. */
  readonly algorithms: ReadonlySet<string>;
  readonly key: KeyObject;
  /** Identifies the key, so that it is recognised when the key set is read again. */
  readonly fingerprint: string;
}

const MIN_RSA_BITS = 2048;
const MAX_RSA_BITS = 8192;
/** With an exponent of 1 every text is its own signature; very large exponents only cost time. */
const MIN_EXPONENT = 3n;
const MAX_EXPONENT = 0xffff_ffffn;
const CURVES: Readonly<Record<string, string>> = { "P-256": "ES256", "P-521": "ES512" };
const RSA_ALGORITHMS: readonly string[] = ["RS256", "RS512"];

/** The members of a secret or private key. */
const SECRETS = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"] as const;

/** The public members of a JWK; others are ignored. */
const MEMBERS = { RSA: ["n", "e"], EC: ["crv", "x", "y"] } as const;

/**
 * A key of a key set; undefined if it is for something else, is secret or weak,
 * or fits no accepted algorithm. Symmetric keys never verify anything.
 */
export function readVerificationKey(
  jwk: JsonObject,
  accepted: ReadonlySet<string>,
): VerificationKey | undefined {
  const { kty, kid, use, alg, key_ops: operations } = jwk as Record<string, unknown>;
  if (kty !== "RSA" && kty !== "EC") return undefined;
  // A private key that was published is not secret.
  if (SECRETS.some((name) => Object.hasOwn(jwk, name))) return undefined;
  if (use !== undefined && use !== "sig") return undefined;
  if (operations !== undefined && !(Array.isArray(operations) && operations.includes("verify"))) {
    return undefined;
  }
  if (kid !== undefined && typeof kid !== "string") return undefined;
  const algorithms = new Set(
    algorithmsOf(jwk, kty).filter((one) => accepted.has(one) && (alg === undefined || alg === one)),
  );
  const key = algorithms.size === 0 ? undefined : publicKey(jwk, kty);
  if (key === undefined) return undefined;
  const members = MEMBERS[kty].map((name) => jwk[name]);
  return { keyId: kid, algorithms, key, fingerprint: JSON.stringify([kid, kty, alg, ...members]) };
}

function algorithmsOf(jwk: JsonObject, kty: "RSA" | "EC"): readonly string[] {
  if (kty === "RSA") return RSA_ALGORITHMS;
  const curve = jwk["crv"];
  const algorithm =
    typeof curve === "string" && Object.hasOwn(CURVES, curve) ? CURVES[curve] : undefined;
  return algorithm === undefined ? [] : [algorithm];
}

function publicKey(jwk: JsonObject, kty: "RSA" | "EC"): KeyObject | undefined {
  const members = Object.fromEntries(MEMBERS[kty].map((name) => [name, jwk[name]]));
  try {
    const key = createPublicKey({ key: { kty, ...members } as JsonWebKey, format: "jwk" });
    return kty === "RSA" && !isStrong(key) ? undefined : key;
  } catch {
    return undefined;
  }
}

function isStrong({ asymmetricKeyDetails }: KeyObject): boolean {
  const { modulusLength: bits = 0, publicExponent: exponent = 0n } = asymmetricKeyDetails ?? {};
  if (bits < MIN_RSA_BITS || bits > MAX_RSA_BITS) return false;
  return exponent >= MIN_EXPONENT && exponent <= MAX_EXPONENT && exponent % 2n === 1n;
}
