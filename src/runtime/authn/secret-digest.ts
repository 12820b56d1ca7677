import { hash, timingSafeEqual } from "node:crypto";

/** What stands for a secret in comparisons: all have one length, and none tells anything of the secret. */
export function digestOf(secret: string): Buffer {
  return hash("sha256", secret, "buffer");
}

/**
 * The place of the secret that has this digest among others; -1 where it is none.
 * All are looked at, so that the time tells neither whether nor where it was found.
 */
export function findDigest(digest: Buffer, accepted: readonly Buffer[]): number {
  let found = -1;
  for (let index = 0; index < accepted.length; index++) {
    const equal = timingSafeEqual(digest, accepted[index] as Buffer);
    found = equal ? index : found;
  }
  return found;
}
