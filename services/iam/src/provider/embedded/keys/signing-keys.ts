import { generateKeyPair, type JsonWebKey, type KeyObject, randomUUID } from "node:crypto";
import { promisify } from "node:util";
import type { SecretBox } from "../../../ground/secrets/secret-box.ts";
import type { ProviderDatabase } from "../../../ground/store/provider-database.ts";
import { type NewKey, ProviderKeys, type Rotation } from "../../../ground/store/provider-keys.ts";
import type { KeyRow } from "../../../ground/store/provider-tables.ts";

/** A private key that signs tokens; `alg` is always there, since some verifiers take any otherwise. */
export interface SigningKey extends JsonWebKey {
  readonly kid: string;
  readonly alg: typeof ALGORITHM;
  readonly use: "sig";
}

/** How long keys live, in milliseconds. */
export interface SigningKeyTimes {
  /** How long the next key is published before it signs: longer than verifiers keep the key set. */
  readonly publishedMs: number;
  /** How long the current key signs. */
  readonly signsMs: number;
  /** How long a retired key stays published: longer than all that it has signed is accepted. */
  readonly retiredMs: number;
}

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

/** Verifiers keep the key set for 10 minutes (docs/requirements.md). ID tokens name a session at its logout. */
export const KEY_TIMES: SigningKeyTimes = {
  publishedMs: 15 * MINUTE,
  signsMs: 30 * DAY,
  retiredMs: 31 * DAY,
};

/** The algorithm of all tokens: the one that every OpenID client must know. */
export const ALGORITHM = "RS256";

const PURPOSE = "signing";
const MODULUS = 2048;
const TABLE = "iam_keys";
const COLUMN = "material";
const generate = promisify(generateKeyPair);

/** Makes a private RSA key. */
export type KeyMaker = () => Promise<KeyObject>;

async function newRsaKey(): Promise<KeyObject> {
  return (await generate("rsa", { modulusLength: MODULUS })).privateKey;
}

/** What happened to a key. */
export interface KeyEvents {
  /** A key was made. */
  keyMade(kid: string): void;
  /** Another key signs. */
  keyRotated(current: string, retired: string | undefined): void;
}

/** The signing keys, which all replicas share. */
export class SigningKeys {
  readonly #keys: ProviderKeys;
  readonly #box: SecretBox;
  readonly #events: KeyEvents;
  readonly #times: SigningKeyTimes;
  readonly #now: () => number;
  readonly #newKey: KeyMaker;

  /** @param options.newKey another way to make a key; a faster one than the default is for tests */
  constructor(
    database: ProviderDatabase,
    box: SecretBox,
    events: KeyEvents,
    options: {
      readonly times?: SigningKeyTimes;
      readonly now?: () => number;
      readonly newKey?: KeyMaker;
    } = {},
  ) {
    this.#keys = new ProviderKeys(database, PURPOSE);
    this.#box = box;
    this.#events = events;
    this.#times = options.times ?? KEY_TIMES;
    this.#now = options.now ?? Date.now;
    this.#newKey = options.newKey ?? newRsaKey;
  }

  /** All keys, the one that signs first; makes the first ones. */
  async load(): Promise<readonly SigningKey[]> {
    let rows = await this.#keys.list();
    for (const state of ["current", "next"] as const) {
      if (rows.some((row) => row.state === state)) continue;
      const key = await this.#make();
      if (await this.#keys.add(key, state, this.#now())) this.#events.keyMade(key.kid);
      rows = await this.#keys.list();
    }
    return rows.map((row) => this.#open(row));
  }

  /** What `versionOf` says of the keys of now. */
  async version(): Promise<string> {
    return versionOf(await this.#keys.list());
  }

  /**
   * Lets the next key sign, and publishes another one.
   *
   * @param options.isUrgent also if verifiers may not know it yet, such as where the current key is
   * no longer secret; services that have fetched the keys a moment ago refuse tokens for a while
   */
  async rotate(options: { readonly isUrgent?: boolean } = {}): Promise<Rotation> {
    const following = await this.#make();
    const publishedMs = options.isUrgent === true ? 0 : this.#times.publishedMs;
    const rotation = await this.#keys.rotate(following, publishedMs, this.#now());
    if (rotation.outcome === "rotated") {
      this.#events.keyMade(following.kid);
      this.#events.keyRotated(rotation.current, rotation.retired);
    }
    return rotation;
  }

  /** Rotates if the current key has signed for its time, and removes retired keys. For a job. */
  async maintain(): Promise<void> {
    await this.load();
    const [current] = await this.#keys.list();
    const since = current?.current_time ?? this.#now();
    if (this.#now() - since >= this.#times.signsMs) await this.rotate();
    await this.#keys.removeRetired(this.#now() - this.#times.retiredMs);
  }

  async #make(): Promise<NewKey> {
    const privateKey = await this.#newKey();
    const kid = randomUUID();
    const jwk = { ...privateKey.export({ format: "jwk" }), kid, alg: ALGORITHM, use: "sig" };
    return { kid, material: this.#box.seal(JSON.stringify(jwk), placeOf(kid)) };
  }

  #open({ kid, material }: KeyRow): SigningKey {
    return JSON.parse(this.#box.open(material, placeOf(kid)));
  }
}

/** The sealed column of the keys. */
export const SEALED_KEYS = { table: TABLE, column: COLUMN, key: ["kid"] } as const;

function placeOf(kid: string) {
  return { table: TABLE, column: COLUMN, row: kid };
}

/** A text that changes when a key is made, begins to sign, or is removed: their order shows their states. */
export function versionOf(keys: readonly { readonly kid: string }[]): string {
  return keys.map(({ kid }) => kid).join(" ");
}
