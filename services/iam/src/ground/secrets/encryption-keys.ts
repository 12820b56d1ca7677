import { createHash, scryptSync } from "node:crypto";

/** One encryption key. */
export interface EncryptionKey {
  /** Its name in the values that it has encrypted: 10 characters of its SHA-256 hash. */
  readonly id: string;
  /** 32 bytes. */
  readonly bytes: Uint8Array;
}

/** The text of a key file cannot be used; the message contains none of it. */
export class EncryptionKeyError extends Error {
  /** Always `EncryptionKeyError`. */
  override readonly name = "EncryptionKeyError";
}

const BYTES = 32;
const ID_LENGTH = 10;
const FIX = "each line is 32 random bytes in base64, as `openssl rand -base64 32` prints them";

/** The keys of a key file: the first one encrypts, all decrypt. */
export class EncryptionKeys {
  /** The key that encrypts. */
  readonly first: EncryptionKey;
  readonly #keys: ReadonlyMap<string, EncryptionKey>;

  private constructor(keys: readonly [EncryptionKey, ...EncryptionKey[]]) {
    [this.first] = keys;
    this.#keys = new Map(keys.map((key) => [key.id, key]));
  }

  /**
   * Reads the text of a key file: a key in base64 on each line. Empty lines, and lines that begin
   * with `#`, are skipped.
   *
   * @throws EncryptionKeyError with the line and the fix
   */
  static parse(text: string): EncryptionKeys {
    const keys: EncryptionKey[] = [];
    for (const [index, written] of text.split("\n").entries()) {
      const line = written.trim();
      if (line === "" || line.startsWith("#")) continue;
      const bytes = Buffer.from(line, "base64");
      // Node.js skips characters that are not base64, so the text must be what the bytes encode to.
      if (bytes.length !== BYTES || bytes.toString("base64") !== line) {
        throw new EncryptionKeyError(`line ${index + 1} is not an encryption key: ${FIX}`);
      }
      if (new Set(bytes).size < BYTES / 4) {
        throw new EncryptionKeyError(`line ${index + 1} is not random: ${FIX}`);
      }
      const key = { id: keyId(bytes), bytes };
      if (keys.some(({ id }) => id === key.id)) {
        throw new EncryptionKeyError(`line ${index + 1} repeats an earlier key: remove it`);
      }
      keys.push(key);
    }
    const [first, ...others] = keys;
    if (first === undefined) throw new EncryptionKeyError(`it has no encryption key: ${FIX}`);
    return new EncryptionKeys([first, ...others]);
  }

  /**
   * The key of development, the same at each start and in each copy of this program: it keeps
   * nothing secret.
   */
  static ofDevelopment(): EncryptionKeys {
    const bytes = createHash("sha256").update("svc-iam development key").digest();
    return new EncryptionKeys([{ id: keyId(bytes), bytes }]);
  }

  /**
   * The key of a secret that the service shares with another one. Everybody gets what it encrypts, so a
   * secret that is short is costly to guess.
   */
  static ofSecret(secret: string): EncryptionKeys {
    const bytes = scryptSync(secret, "svc-iam key of a secret", BYTES);
    return new EncryptionKeys([{ id: keyId(bytes), bytes }]);
  }

  /** The ids of all. */
  get ids(): readonly string[] {
    return [...this.#keys.keys()];
  }

  /** The key with an id. */
  find(id: string): EncryptionKey | undefined {
    return this.#keys.get(id);
  }
}

function keyId(bytes: Uint8Array): string {
  const hash = createHash("sha256").update("svc-iam key id\0").update(bytes).digest("base64url");
  return hash.slice(0, ID_LENGTH);
}
