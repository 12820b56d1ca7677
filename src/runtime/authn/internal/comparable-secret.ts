import { hash, timingSafeEqual } from "node:crypto";

/** All forms have this length, so that a comparison takes the same time for each. */
const FORM_BYTES = 256;
const KIND = { text: 1, digest: 2 } as const;
/** After the kind and the length. */
const TEXT_AT = 2;

/**
 * A secret in the form in which it is compared. A short one is stored as it is: for each call, its
 * digest would take longer than the rest of the authentication.
 *
 * @param form the buffer to fill
 */
export function comparableSecret(secret: string, form: Buffer = Buffer.alloc(FORM_BYTES)): Buffer {
  const length = Buffer.byteLength(secret);
  form.fill(0);
  if (length <= FORM_BYTES - TEXT_AT) {
    form[0] = KIND.text;
    form[1] = length;
    form.write(secret, TEXT_AT);
  } else {
    form[0] = KIND.digest;
    hash("sha256", secret, "buffer").copy(form, TEXT_AT);
  }
  return form;
}

/**
 * The index of a secret; -1 if there is none. All are compared, so that the time reveals neither
 * whether nor where it was found.
 */
export function findSecret(form: Buffer, accepted: readonly Buffer[]): number {
  let found = -1;
  for (let index = 0; index < accepted.length; index++) {
    const equal = timingSafeEqual(form, accepted[index] as Buffer);
    found = equal ? index : found;
  }
  return found;
}
