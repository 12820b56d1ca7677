import { createHash, randomBytes, timingSafeEqual } from "node:crypto";

const BYTES = 32;
/** So that a secret which was published by mistake is found. */
const PREFIX = "svcsa_";

/** Makes the secret of a key, of 256 random bits. */
export function makeSecret(): string {
  return PREFIX + randomBytes(BYTES).toString("base64url");
}

/** The form in which a secret is stored: it is random, so the hash needs no salt. */
export function hashOfSecret(secret: string): string {
  return createHash("sha256").update(secret).digest("base64url");
}

/** Whether a secret has a hash, in a time that does not depend on it. */
export function isSecretOf(secret: string, hash: string): boolean {
  const [own, other] = [Buffer.from(hashOfSecret(secret)), Buffer.from(hash)];
  return own.length === other.length && timingSafeEqual(own, other);
}
