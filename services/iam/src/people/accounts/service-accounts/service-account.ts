import type { JsonWebKey } from "node:crypto";

/** An account that a program uses, and that was made by an administrator. */
export interface ServiceAccount {
  /** UUID: the client id, and the subject of its tokens. */
  readonly id: string;
  readonly displayName: string;
  /** The services that its tokens can be for; empty: the account itself. */
  readonly audience: readonly string[];
  readonly disabled: boolean;
  readonly etag: string;
  /** Milliseconds since the epoch, as all times. */
  readonly createTime: number;
  readonly updateTime: number;
}

/** A key of a service account: a secret, of which there is only a hash, or a public key. */
export interface ServiceAccountKey {
  readonly id: string;
  /** The claim `sid` of the tokens that are issued for it. */
  readonly sid: string;
  /** Of a secret. */
  readonly secretHash: string | undefined;
  /** Of a pair of keys. */
  readonly publicKey: JsonWebKey | undefined;
  readonly createTime: number;
  /** From when on it is not accepted; undefined: it does not expire. */
  readonly expireTime: number | undefined;
}

/** An enabled service account, with the keys that it can authenticate with now. */
export interface ServiceAccountLogin {
  readonly account: ServiceAccount;
  readonly keys: readonly ServiceAccountKey[];
}
