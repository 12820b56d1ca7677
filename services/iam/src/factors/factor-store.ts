import { randomUUID } from "node:crypto";
import type { Kysely } from "svc-access/database";
import type { SecretBox } from "../secrets/secret-box.ts";
import {
  type FactorTables,
  SEALED_FACTORS,
  type SecondFactorsTable,
} from "../store/factor-tables.ts";
import { isStorable } from "../store/storable-text.ts";

/** A second factor, without what is secret. */
export interface SecondFactor {
  readonly id: string;
  readonly kind: "totp" | "passkey";
  /** Milliseconds since the epoch. */
  readonly createTime: number;
  /** Undefined if it was never used. */
  readonly useTime: number | undefined;
}

/** A passkey, as signatures are verified with it. */
export interface StoredPasskey {
  readonly id: string;
  readonly accountId: string;
  readonly credentialId: string;
  /** COSE, in base64url. */
  readonly publicKey: string;
  readonly counter: number;
}

/** The most factors of one kind that an account has. */
const MOST = 10;

/** The second factors in the database. */
export class FactorStore {
  readonly #database: Kysely<FactorTables>;
  readonly #box: SecretBox;
  readonly #now: () => number;

  /** @param now milliseconds since the epoch */
  constructor(database: Kysely<FactorTables>, box: SecretBox, now: () => number = Date.now) {
    this.#database = database;
    this.#box = box;
    this.#now = now;
  }

  /** The factors of an account, the oldest first. */
  async list(accountId: string): Promise<readonly SecondFactor[]> {
    const rows = await this.#rows(accountId);
    return rows.map(({ id, kind, create_time, use_time }) => ({
      id,
      kind,
      // PostgreSQL sends whole numbers of 64 bits as text.
      createTime: Number(create_time),
      useTime: use_time === null ? undefined : Number(use_time),
    }));
  }

  /** The secrets of the apps of an account, with the time step of the last code. */
  async apps(accountId: string) {
    const rows = (await this.#rows(accountId)).filter(({ kind }) => kind === "totp");
    return rows.map(({ id, secret, counter }) => ({
      id,
      secret: this.#box.open(secret ?? "", placeOf(id)),
      lastStep: Number(counter),
    }));
  }

  /** The passkeys of an account. */
  async passkeys(accountId: string): Promise<readonly StoredPasskey[]> {
    const rows = await this.#rows(accountId);
    return rows.filter(({ kind }) => kind === "passkey").map(passkeyOf);
  }

  /** The passkey with an id that an authenticator has given it. */
  async passkey(credentialId: string): Promise<StoredPasskey | undefined> {
    if (!isStorable(credentialId)) return undefined;
    const row = await this.#database
      .selectFrom("iam_second_factors")
      .selectAll()
      .where("credential_id", "=", credentialId)
      .executeTakeFirst();
    return row && passkeyOf(row);
  }

  /** Adds the secret of an app. @returns false if the account has too many */
  async addApp(accountId: string, secret: string, step: number): Promise<boolean> {
    const id = randomUUID();
    const sealed = this.#box.seal(secret, placeOf(id));
    return this.#add({ id, account_id: accountId, kind: "totp", secret: sealed, counter: step });
  }

  /** Adds a passkey. @returns false if the account has too many, or the passkey is known */
  async addPasskey(passkey: Omit<StoredPasskey, "id">): Promise<boolean> {
    const { accountId, credentialId, publicKey, counter } = passkey;
    return this.#add({
      id: randomUUID(),
      account_id: accountId,
      kind: "passkey",
      credential_id: credentialId,
      public_key: publicKey,
      counter,
    });
  }

  /**
   * Marks a factor as used, in one statement: of several at once with one code, one succeeds.
   *
   * @param counter must be greater than the stored one; both are 0 for passkeys that do not count
   */
  async use(id: string, counter: number): Promise<boolean> {
    const { numUpdatedRows } = await this.#database
      .updateTable("iam_second_factors")
      .set({ counter, use_time: this.#now() })
      .where("id", "=", id)
      .where((is) => (counter === 0 ? is("counter", "=", 0) : is("counter", "<", counter)))
      .executeTakeFirst();
    return numUpdatedRows > 0n;
  }

  /** Removes a factor. @returns its kind; undefined if the account has no such factor */
  async remove(id: string, accountId: string): Promise<SecondFactor["kind"] | undefined> {
    if (!isStorable(id)) return undefined;
    const row = await this.#database
      .deleteFrom("iam_second_factors")
      .where("id", "=", id)
      .where("account_id", "=", accountId)
      .returning("kind")
      .executeTakeFirst();
    return row?.kind;
  }

  /** Removes all factors and recovery codes of an account. @returns how many factors */
  async removeAll(accountId: string): Promise<number> {
    const rows = await this.#database
      .deleteFrom("iam_second_factors")
      .where("account_id", "=", accountId)
      .returning("id")
      .execute();
    await this.replaceCodes(accountId, []);
    return rows.length;
  }

  /** How many recovery codes an account has. */
  async countCodes(accountId: string): Promise<number> {
    const rows = await this.#database
      .selectFrom("iam_recovery_codes")
      .select("code_hash")
      .where("account_id", "=", accountId)
      .execute();
    return rows.length;
  }

  /** Replaces the recovery codes of an account by others. */
  async replaceCodes(accountId: string, hashes: readonly string[]): Promise<void> {
    await this.#database.transaction().execute(async (tx) => {
      await tx.deleteFrom("iam_recovery_codes").where("account_id", "=", accountId).execute();
      if (hashes.length === 0) return;
      const rows = hashes.map((code_hash) => ({ account_id: accountId, code_hash }));
      await tx.insertInto("iam_recovery_codes").values(rows).execute();
    });
  }

  /** Uses a recovery code, which then no longer exists: of several at once, one succeeds. */
  async useCode(accountId: string, hash: string): Promise<boolean> {
    const { numDeletedRows } = await this.#database
      .deleteFrom("iam_recovery_codes")
      .where("account_id", "=", accountId)
      .where("code_hash", "=", hash)
      .executeTakeFirst();
    return numDeletedRows > 0n;
  }

  async #add(
    row: Pick<SecondFactorsTable, "id" | "account_id" | "kind" | "counter"> &
      Partial<SecondFactorsTable>,
  ): Promise<boolean> {
    const known = await this.#rows(row.account_id);
    if (known.filter(({ kind }) => kind === row.kind).length >= MOST) return false;
    const { numInsertedOrUpdatedRows = 0n } = await this.#database
      .insertInto("iam_second_factors")
      .values({
        secret: null,
        credential_id: null,
        public_key: null,
        ...row,
        create_time: this.#now(),
        use_time: null,
      })
      .onConflict((conflict) => conflict.column("credential_id").doNothing())
      .executeTakeFirst();
    return numInsertedOrUpdatedRows > 0n;
  }

  #rows(accountId: string) {
    return this.#database
      .selectFrom("iam_second_factors")
      .selectAll()
      .where("account_id", "=", accountId)
      .orderBy("create_time")
      .orderBy("id")
      .execute();
  }
}

function passkeyOf(row: SecondFactorsTable): StoredPasskey {
  return {
    id: row.id,
    accountId: row.account_id,
    credentialId: row.credential_id ?? "",
    publicKey: row.public_key ?? "",
    counter: Number(row.counter),
  };
}

function placeOf(id: string) {
  return { table: SEALED_FACTORS.table, column: SEALED_FACTORS.column, row: id };
}
