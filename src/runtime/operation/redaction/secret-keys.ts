/** What stands in the place of a secret (spec 7, rule 5). */
export const REDACTED = "***";

/** The words by which a key tells that its value is a secret; lower case, without separators. */
const SECRET_WORDS = [
  "password",
  "passwd",
  "passphrase",
  "secret",
  "token",
  "accesskey",
  "secretkey",
  "privatekey",
  "apikey",
  "signingkey",
  "authorization",
  "cookie",
  "credential",
] as const;

const SECRET = new RegExp(SECRET_WORDS.join("|"));
/** Short names that are a secret only as the whole key, or at its end. */
const SHORT = /^(?:pass|pwd|pw|auth)$|jwt$/;
/** What says something about a secret and is none. */
const ABOUT = /(?:type|endpoint|ttl|count|length|expires|expiresin|expiresat|expiry)$/;

/** Keys repeat: what was found out of one is kept, up to a number that an attacker's keys cannot pass. */
const known = new Map<string, boolean>();
const MAX_KNOWN = 2000;
const MAX_KEY = 256;

/**
 * Whether the value of a key is a secret, whatever the letter case and the
 * separators: `accessKey`, `client-secret`, `REFRESH_TOKEN`, `set-cookie`.
 */
export function isSecretKey(key: string): boolean {
  const before = known.get(key);
  if (before !== undefined) return before;
  const plain = key
    .slice(0, MAX_KEY)
    .replace(/[^A-Za-z0-9]/g, "")
    .toLowerCase();
  const found = (SECRET.test(plain) && !ABOUT.test(plain)) || SHORT.test(plain);
  if (known.size < MAX_KNOWN && key.length <= MAX_KEY) known.set(key, found);
  return found;
}
