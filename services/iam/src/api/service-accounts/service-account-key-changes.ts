import type { JsonWebKey } from "node:crypto";
import { isUniqueViolation } from "svc-access/database";
import { type CallContext, creationId, ServiceError } from "svc-access/runtime";
import { hashOfSecret, makeSecret } from "../../people/accounts/service-accounts/key-secret.ts";
import type {
  ServiceAccount,
  ServiceAccountKey,
} from "../../people/accounts/service-accounts/service-account.ts";
import {
  addKey,
  listKeys,
  MOST_KEYS,
  type NewKey,
  removeKeys,
} from "../../people/accounts/service-accounts/service-account-keys.ts";
import type { ServiceAccounts } from "../../people/accounts/service-accounts/service-accounts.ts";
import type { AccountWrites } from "./account-writes.ts";
import type { PublicKey } from "./public-key.ts";
import { noAccount } from "./service-account-errors.ts";

/** What changes of keys need. */
export interface ServiceAccountKeyChangesOptions {
  readonly accounts: ServiceAccounts;
  readonly writes: AccountWrites;
}

/** A key that was just made. */
export interface MadeKey {
  readonly key: ServiceAccountKey;
  /** The secret, which is not stored; empty for a public key. */
  readonly secret: string;
}

/** Changes of the keys of service accounts by administrators. */
export class ServiceAccountKeyChanges {
  readonly #options: ServiceAccountKeyChangesOptions;

  constructor(options: ServiceAccountKeyChangesOptions) {
    this.#options = options;
  }

  /**
   * Creates a key: of a public key, or with a secret that it makes.
   *
   * @throws ServiceError FORBIDDEN, ALREADY_EXISTS, INVALID_ARGUMENT or FAILED_PRECONDITION
   */
  async create(
    { id: accountId }: ServiceAccount,
    publicKey: PublicKey | undefined,
    expireTime: number | undefined,
    call: CallContext,
  ): Promise<MadeKey> {
    await this.#options.writes.assertCovers(accountId, call);
    const id = creationId(call);
    const secret = publicKey === undefined ? makeSecret() : "";
    const credential =
      publicKey === undefined ? { secretHash: hashOfSecret(secret) } : withKid(publicKey, id);
    const key = await this.#store(accountId, { id, credential, expireTime }, call);
    await call.audit.record({
      event: "service_account.key_made",
      riskLevel: "CRITICAL",
      resource: `service_account:${accountId}`,
      details: {
        key: id,
        kind: publicKey === undefined ? "secret" : "public_key",
        ...(expireTime === undefined ? {} : { expires: new Date(expireTime).toISOString() }),
      },
    });
    return { key, secret };
  }

  /** Deletes a key, and ends its tokens. @throws ServiceError FORBIDDEN or RESOURCE_NOT_FOUND */
  async delete({ id }: ServiceAccount, keyId: string, call: CallContext): Promise<void> {
    const { writes } = this.#options;
    await writes.assertCovers(id, call);
    await writes.write(call, async (db) => {
      const ended = await removeKeys(db, id, keyId);
      if (ended.length === 0) {
        throw new ServiceError("RESOURCE_NOT_FOUND", "the service account has no such key");
      }
      return { result: undefined, ended };
    });
    await call.audit.record({
      event: "service_account.key_deleted",
      riskLevel: "HIGH",
      resource: `service_account:${id}`,
      details: { key: keyId },
    });
  }

  async #store(accountId: string, key: NewKey, call: CallContext): Promise<ServiceAccountKey> {
    const { accounts, writes } = this.#options;
    try {
      return await writes.write(call, async (db) => {
        // Its lock makes others that add a key wait.
        if ((await accounts.change(db, accountId, {})) === undefined) throw noAccount();
        // Of an earlier call that failed after it: nobody has got its secret.
        const ended = await removeKeys(db, accountId, key.id);
        if ((await listKeys(db, accountId)).length >= MOST_KEYS) throw tooMany();
        const stored = await addKey(db, accountId, key, accounts.time());
        const { expireTime, createTime } = stored;
        if (expireTime !== undefined && expireTime <= createTime) throw isOver();
        return { result: stored, ended };
      });
    } catch (error) {
      if (!isUniqueViolation(error)) throw error;
      throw new ServiceError("ALREADY_EXISTS", "the service account has this public key already", {
        cause: error,
      });
    }
  }
}

/** A public key without a name of its own has that of the record. */
function withKid({ jwk, thumbprint }: PublicKey, id: string) {
  const publicKey: JsonWebKey = { ...jwk, kid: jwk["kid"] ?? id };
  return { publicKey, thumbprint };
}

function tooMany(): ServiceError {
  return new ServiceError(
    "FAILED_PRECONDITION",
    `the service account has ${MOST_KEYS} keys: delete one that is not used`,
  );
}

function isOver(): ServiceError {
  const problem = "must be in the future";
  return new ServiceError("INVALID_ARGUMENT", `expire_time ${problem}`, {
    details: { fields: { expire_time: problem } },
  });
}
