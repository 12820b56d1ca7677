import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { base32, fromBase32 } from "./base32.ts";

/** How long a code is shown. */
const STEP_MS = 30_000;
const DIGITS = 6;
/** The clock of a phone may be half a minute ahead or behind. */
const STEPS_APART = [0, -1, 1] as const;
/** As long as a hash of SHA-1 (RFC 4226, section 4). */
const SECRET_BYTES = 20;

/** A new secret, in base32. */
export function newTotpSecret(): string {
  return base32(randomBytes(SECRET_BYTES));
}

/** The address by which an authenticator app takes a secret. */
export function totpUri(issuer: string, username: string, secret: string): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(username)}`;
  return `otpauth://totp/${label}?secret=${secret}&issuer=${encodeURIComponent(issuer)}`;
}

/** The code of a time step (RFC 6238), with SHA-1, which is what all apps have. */
export function totpCode(secret: string, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const hash = createHmac("sha1", fromBase32(secret)).update(counter).digest();
  const offset = (hash.at(-1) ?? 0) & 0xf;
  const number = hash.readUInt32BE(offset) & 0x7fffffff;
  return String(number % 10 ** DIGITS).padStart(DIGITS, "0");
}

/**
 * The time step of a code.
 *
 * @param code digits, as they were typed
 * @param now milliseconds since the epoch
 * @returns undefined if it is none of the moment
 */
export function totpStep(secret: string, code: string, now: number): number | undefined {
  const typed = code.replace(/\s/g, "");
  if (!/^\d{6}$/.test(typed)) return undefined;
  const current = Math.floor(now / STEP_MS);
  const steps = STEPS_APART.map((apart) => current + apart);
  // All are compared, so that the time does not tell which one it is.
  const matching = steps.filter((step) =>
    timingSafeEqual(Buffer.from(totpCode(secret, step)), Buffer.from(typed)),
  );
  return matching[0];
}
