import { type JsonWebKey, randomUUID } from "node:crypto";
import type { Kysely, RawBuilder, Selectable } from "svc-access/database";
import type {
  ServiceAccountKeysTable,
  ServiceAccountTables,
} from "../../../ground/store/service-account-tables.ts";
import type { ServiceAccountKey } from "./service-account.ts";

/** The table of the keys, in a transaction that holds the lock of the account where something changes. */
type KeyDatabase = Kysely<Pick<ServiceAccountTables, "iam_service_account_keys">>;

/** The most keys of an account: enough to rotate those of several programs. */
export const MOST_KEYS = 10;

/** What a new key is made of. */
export interface NewKey {
  readonly id: string;
  readonly credential:
    | { readonly secretHash: string }
    | { readonly publicKey: JsonWebKey; readonly thumbprint: string };
  readonly expireTime: number | undefined;
}

/** The keys of an account, the oldest first. */
export async function listKeys(
  database: KeyDatabase,
  accountId: string,
): Promise<readonly ServiceAccountKey[]> {
  const rows = await database
    .selectFrom("iam_service_account_keys")
    .selectAll()
    .where("account_id", "=", accountId)
    .orderBy("create_time")
    .orderBy("id")
    .execute();
  return rows.map(keyOf);
}

/**
 * Adds a key, in a transaction that has locked the account.
 *
 * @param now the time of the database
 * @throws a unique violation where the account has the public key
 */
export async function addKey(
  database: KeyDatabase,
  accountId: string,
  { id, credential, expireTime }: NewKey,
  now: RawBuilder<number>,
): Promise<ServiceAccountKey> {
  const isSecret = "secretHash" in credential;
  const row = await database
    .insertInto("iam_service_account_keys")
    .values({
      id,
      account_id: accountId,
      secret_hash: isSecret ? credential.secretHash : null,
      public_key: isSecret ? null : JSON.stringify(credential.publicKey),
      thumbprint: isSecret ? null : credential.thumbprint,
      sid: randomUUID(),
      create_time: now,
      expire_time: expireTime ?? null,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  return keyOf(row);
}

/**
 * Deletes keys of an account, in a transaction.
 *
 * @param keyId undefined: all of them
 * @returns the claims `sid` of their tokens
 */
export async function removeKeys(
  database: KeyDatabase,
  accountId: string,
  keyId?: string,
): Promise<readonly string[]> {
  let query = database.deleteFrom("iam_service_account_keys").where("account_id", "=", accountId);
  if (keyId !== undefined) query = query.where("id", "=", keyId);
  return (await query.returning("sid").execute()).map(({ sid }) => sid);
}

/**
 * Gives the keys of an account new claims `sid`, in a transaction: revocations of the former ones do not
 * concern the tokens that are issued from then on.
 *
 * @returns the former ones
 */
export async function renewSids(
  database: KeyDatabase,
  accountId: string,
): Promise<readonly string[]> {
  const keys = await listKeys(database, accountId);
  for (const { id } of keys) {
    await database
      .updateTable("iam_service_account_keys")
      .set({ sid: randomUUID() })
      .where("id", "=", id)
      .execute();
  }
  return keys.map(({ sid }) => sid);
}

/** A key as it is stored. */
export function keyOf(row: Selectable<ServiceAccountKeysTable>): ServiceAccountKey {
  return {
    id: row.id,
    sid: row.sid,
    secretHash: row.secret_hash ?? undefined,
    publicKey: row.public_key === null ? undefined : JSON.parse(row.public_key),
    // PostgreSQL sends whole numbers of 64 bits as text.
    createTime: Number(row.create_time),
    expireTime: row.expire_time === null ? undefined : Number(row.expire_time),
  };
}
