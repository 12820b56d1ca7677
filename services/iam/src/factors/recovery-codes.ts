import { createHash, randomBytes } from "node:crypto";
import { base32 } from "./base32.ts";

/** How many codes somebody gets. */
const COUNT = 10;
const CODE_BYTES = 10;
const LENGTH = 16;

/** New recovery codes, as people read them: 80 random bits each. */
export function newRecoveryCodes(): readonly string[] {
  return Array.from({ length: COUNT }, () =>
    (base32(randomBytes(CODE_BYTES)).match(/.{4}/g) ?? []).join("-"),
  );
}

/**
 * The hash of a code, in any spelling that people type.
 *
 * @returns undefined for a text that is not a recovery code
 */
export function recoveryCodeHash(accountId: string, typed: string): string | undefined {
  const code = typed
    .slice(0, 4 * LENGTH)
    .replace(/[\s-]/g, "")
    .toUpperCase();
  if (!/^[A-Z2-7]{16}$/.test(code)) return undefined;
  return createHash("sha256").update(`${accountId}\0${code}`).digest("base64url");
}
