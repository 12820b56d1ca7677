import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  type KeyObject,
  randomBytes,
} from "node:crypto";
import { type EncryptionKey, EncryptionKeys } from "./encryption-keys.ts";

/** The place that a sealed value belongs to, in the database or elsewhere; moved to another one, it cannot be opened. */
export interface SealedPlace {
  /** The table. */
  readonly table: string;
  /** The column of the table. */
  readonly column: string;
  /** The primary key of the row. */
  readonly row: string;
}

/** A sealed value cannot be opened: its key is missing, or it was changed or moved. */
export class UnsealError extends Error {
  /** Always `UnsealError`. */
  override readonly name = "UnsealError";
}

/**
 * The key of a sealed value is not in the key file of this process; that of another replica may have it.
 * The message names the key. `oidc-provider` answers with its status, and nothing of its message.
 */
export class MissingKeyError extends UnsealError {
  /** The id of the key. */
  readonly keyId: string;
  /** The HTTP status. */
  readonly status = 503;
  /** The same. */
  readonly statusCode = 503;
  /** Whether callers may read the message. */
  readonly expose = false;

  /**
   * @param keyId the id of the key
   * @param message names the key and the fix
   */
  constructor(keyId: string, message: string) {
    super(message);
    this.keyId = keyId;
  }
}

const DEVELOPMENT_KEY = EncryptionKeys.ofDevelopment().first.id;
const VERSION = "v1";
const CIPHER = "aes-256-gcm";
/** The part of the random bytes that derives the key, and the part that is the nonce. */
const HALF = 12;
const TAG = 16;
/** How many values have one derived key; the chance that two of their nonces are the same is less than 2^-56. */
const VALUES_A_KEY = 2 ** 20;
/** How many derived keys are kept, to open values with them. */
const MAX_KEPT = 64;

/**
 * Encrypts secrets for the database, with AES-256-GCM. A value is `v1.<key id>.<base64url>`.
 *
 * Random nonces of 96 bits allow 2^32 values with one key, which a busy service reaches in weeks. So
 * values are encrypted with keys that are derived from 96 further random bits, each for a part of
 * the values of one process.
 *
 * @example
 * ```ts
 * const box = new SecretBox(keys);
 * const place = { table: "iam_keys", column: "material", row: kid };
 * const sealed = box.seal(JSON.stringify(jwk), place);
 * const jwk = JSON.parse(box.open(sealed, place));
 * ```
 */
export class SecretBox {
  readonly #keys: EncryptionKeys;
  readonly #valuesAKey: number;
  /** The key that encrypts. */
  #current: ValueKey;
  #values = 0;
  /** Derived keys by their key and random bytes, the one that was derived first at the start. */
  readonly #derived = new Map<string, KeyObject>();

  /**
   * @param keys the first one encrypts, all decrypt
   * @param valuesAKey how many values are encrypted with one derived key
   */
  constructor(keys: EncryptionKeys, valuesAKey: number = VALUES_A_KEY) {
    this.#keys = keys;
    this.#valuesAKey = valuesAKey;
    this.#current = newValueKey(keys.first);
  }

  /** The start of all values that the first key has encrypted. */
  get currentPrefix(): string {
    return `${VERSION}.${this.#keys.first.id}.`;
  }

  /** The ids of its keys. */
  get keyIds(): readonly string[] {
    return this.#keys.ids;
  }

  /** Encrypts a text for its place. */
  seal(text: string, place: SealedPlace): string {
    if (++this.#values > this.#valuesAKey) {
      this.#current = newValueKey(this.#keys.first);
      this.#values = 1;
    }
    const { key, random } = this.#current;
    const nonce = randomBytes(HALF);
    const cipher = createCipheriv(CIPHER, key, nonce);
    cipher.setAAD(associated(place));
    const body = [cipher.update(text, "utf8"), cipher.final()];
    const bytes = Buffer.concat([random, nonce, ...body, cipher.getAuthTag()]);
    return `${this.currentPrefix}${bytes.toString("base64url")}`;
  }

  /**
   * Decrypts a value.
   *
   * @throws MissingKeyError if its key is not in the file; UnsealError if it was changed, cut or moved
   */
  open(value: string, place: SealedPlace): string {
    const [version, id = "", text = "", ...more] = value.split(".");
    const where = `${place.table}.${place.column}`;
    if (version !== VERSION || more.length > 0) {
      throw new UnsealError(`a value in ${where} is not encrypted in a known form`);
    }
    const key = this.#keys.find(id);
    if (key === undefined) {
      const fix =
        id === DEVELOPMENT_KEY
          ? "the one that development uses without iam.encryption_key_file: begin with a new database, or remove iam.encryption_key_file in development"
          : `${shown(id)}, which is not in iam.encryption_key_file: add that key as a further line`;
      const message = `a value in ${where} is encrypted with the key ${fix}`;
      throw new MissingKeyError(shown(id), message);
    }
    const bytes = Buffer.from(text, "base64url");
    if (bytes.length < 2 * HALF + TAG) throw changed(where);
    const derived = this.#keyOf(key, bytes.subarray(0, HALF));
    const decipher = createDecipheriv(CIPHER, derived, bytes.subarray(HALF, 2 * HALF));
    decipher.setAAD(associated(place));
    decipher.setAuthTag(bytes.subarray(-TAG));
    try {
      const body = decipher.update(bytes.subarray(2 * HALF, -TAG));
      return Buffer.concat([body, decipher.final()]).toString("utf8");
    } catch {
      throw changed(where);
    }
  }

  #keyOf(key: EncryptionKey, random: Buffer): KeyObject {
    const name = `${key.id}${random.toString("latin1")}`;
    const kept = this.#derived.get(name);
    if (kept !== undefined) return kept;
    const derived = derive(key, random);
    this.#derived.set(name, derived);
    if (this.#derived.size > MAX_KEPT) {
      const [oldest = ""] = this.#derived.keys();
      this.#derived.delete(oldest);
    }
    return derived;
  }
}

/** A key that is derived from random bits. */
interface ValueKey {
  readonly random: Buffer;
  readonly key: KeyObject;
}

function newValueKey(key: EncryptionKey): ValueKey {
  const random = randomBytes(HALF);
  return { random, key: derive(key, random) };
}

function derive(key: EncryptionKey, random: Buffer): KeyObject {
  const hmac = createHmac("sha256", key.bytes).update("svc-iam value key\0").update(random);
  return createSecretKey(hmac.digest());
}

function changed(where: string): UnsealError {
  return new UnsealError(
    `a value in ${where} was changed or moved since it was encrypted: restore the row from a backup, or delete it`,
  );
}

/** JSON, so that no two places have the same text. */
function associated({ table, column, row }: SealedPlace): Buffer {
  return Buffer.from(JSON.stringify([VERSION, table, column, row]));
}

/** A changed value may hold anything where its key id was. */
function shown(id: string): string {
  return /^[A-Za-z0-9_-]{1,16}$/.test(id) ? id : "(unreadable)";
}
