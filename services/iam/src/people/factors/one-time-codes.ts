import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";

/** How long a code is shown. */
const STEP_MS = 30_000;
const DIGITS = 6;
const DIGITS_ONLY = /^\d{6}$/;
/** With spaces; more is not looked at. */
const LONGEST_TYPED = 64;
/** The clock of a phone may be half a minute ahead or behind. */
const STEPS_APART = [0, -1, 1] as const;
/** As long as a hash of SHA-1 (RFC 4226, section 4). */
const SECRET_BYTES = 20;
/** How many recovery codes somebody gets. */
const RECOVERY_CODES = 10;
const RECOVERY_CODE_BYTES = 10;
const RECOVERY_CODE_LENGTH = 16;
/** Of base32 (RFC 4648). */
const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

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

/** Whether a text, as it was typed, can be a code of an app. */
export function isTotpCode(typed: string): boolean {
  return DIGITS_ONLY.test(withoutSpaces(typed));
}

function withoutSpaces(typed: string): string {
  return typed.slice(0, LONGEST_TYPED).replace(/\s/g, "");
}

/**
 * The time step of a code.
 *
 * @param code digits, as they were typed
 * @param now milliseconds since the epoch
 * @returns undefined if it is none of the moment
 */
export function totpStep(secret: string, code: string, now: number): number | undefined {
  if (!isTotpCode(code)) return undefined;
  const typed = withoutSpaces(code);
  const current = Math.floor(now / STEP_MS);
  const steps = STEPS_APART.map((apart) => current + apart);
  // All are compared, so that the time does not tell which one it is.
  const matching = steps.filter((step) =>
    timingSafeEqual(Buffer.from(totpCode(secret, step)), Buffer.from(typed)),
  );
  return matching[0];
}

/** New recovery codes, as people read them: 80 random bits each. */
export function newRecoveryCodes(): readonly string[] {
  return Array.from({ length: RECOVERY_CODES }, () =>
    (base32(randomBytes(RECOVERY_CODE_BYTES)).match(/.{4}/g) ?? []).join("-"),
  );
}

/**
 * The hash of a code, in any spelling that people type.
 *
 * @returns undefined for a text that is not a recovery code
 */
export function recoveryCodeHash(accountId: string, typed: string): string | undefined {
  const code = typed
    .slice(0, 4 * RECOVERY_CODE_LENGTH)
    .replace(/[\s-]/g, "")
    .toUpperCase();
  if (!/^[A-Z2-7]{16}$/.test(code)) return undefined;
  return createHash("sha256").update(`${accountId}\0${code}`).digest("base64url");
}

/** Bytes in base32 (RFC 4648) without padding, as authenticator apps read them. */
export function base32(bytes: Uint8Array): string {
  let bits = "";
  for (const byte of bytes) bits += byte.toString(2).padStart(8, "0");
  return (bits.match(/.{1,5}/g) ?? [])
    .map((group) => ALPHABET[Number.parseInt(group.padEnd(5, "0"), 2)])
    .join("");
}

/** The bytes of a text in base32. */
export function fromBase32(text: string): Uint8Array {
  const bits = [...text].map((one) => ALPHABET.indexOf(one).toString(2).padStart(5, "0")).join("");
  return Uint8Array.from(bits.match(/.{8}/g) ?? [], (byte) => Number.parseInt(byte, 2));
}
