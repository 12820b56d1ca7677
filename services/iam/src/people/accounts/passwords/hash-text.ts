/** What argon2id costs (RFC 9106). */
export interface HashCost {
  /** KiB. */
  readonly memory: number;
  readonly passes: number;
  readonly parallelism: number;
}

/** A hash of a password with all that is needed to compute it again. */
export interface PasswordHash {
  readonly cost: HashCost;
  readonly salt: Buffer;
  readonly hash: Buffer;
}

/** The version 1.3 of argon2 (RFC 9106), the only one of Node. */
const VERSION = 19;
const FORM =
  /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,3}),p=(\d{1,2})\$([A-Za-z0-9+/]{11,86})\$([A-Za-z0-9+/]{22,86})$/;

/** The text of a hash, in the PHC string format, which other programs read as well. */
export function formatHash({ cost, salt, hash }: PasswordHash): string {
  const parameters = `m=${cost.memory},t=${cost.passes},p=${cost.parallelism}`;
  return `$argon2id$v=${VERSION}$${parameters}$${unpadded(salt)}$${unpadded(hash)}`;
}

/**
 * Reads the text of a hash.
 *
 * @throws TypeError where it is not one; the message does not contain it
 */
export function parseHash(text: string): PasswordHash {
  const [, memory, passes, parallelism, salt, hash] = FORM.exec(text) ?? [];
  if (salt === undefined || hash === undefined) {
    throw new TypeError("the stored password is not an argon2id hash in the PHC string format");
  }
  return {
    cost: { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) },
    salt: Buffer.from(salt, "base64"),
    hash: Buffer.from(hash, "base64"),
  };
}

/** Base64 as the format has it. */
function unpadded(bytes: Buffer): string {
  return bytes.toString("base64").replace(/=+$/, "");
}
