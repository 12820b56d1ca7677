import { createHash, randomUUID } from "node:crypto";
import type { Kysely } from "svc-access/database";
import type { SecretBox } from "../../ground/secrets/secret-box.ts";
import {
  type FactorTables,
  SEALED_FACTORS,
  type SecondFactorsTable,
} from "../../ground/store/factor-tables.ts";
import type { SessionTables } from "../../ground/store/session-tables.ts";
import { isStorable } from "../../ground/store/storable-text.ts";
import type { UserTables } from "../../ground/store/user-tables.ts";
import { lockAccount } from "../accounts/lock-account.ts";
import { areAppsRefused, countFailure, forgetFailures } from "./factor-failures.ts";
import { type FactorOwner, lockOwner } from "./factor-owner.ts";
import { hasFactor } from "./has-factor.ts";

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

/** What a factor is added with. */
export interface FactorAddition {
  readonly owner: FactorOwner;
  /** The hashes of the recovery codes that the account gets with its first factor. */
  readonly firstCodes: readonly string[];
  /** Whether it is added only to an account without factors. */
  readonly onlyAsFirst?: boolean;
}

/** The owner of a change no longer counts: who makes it must log in again. */
export type LostOwner = "lost_owner";

/**
 * What became of an addition: `first` replaced the recovery codes; `known` if the account has an app with the secret;
 * `refused` if it has too many, or the passkey is known; `not_first` if the account has factors.
 */
export type AdditionResult = "first" | "further" | "known" | "refused" | "not_first" | LostOwner;

/** The tables of the store: those of the accounts and sessions are locked. */
export type FactorDatabase = Kysely<
  FactorTables & Pick<UserTables, "iam_users"> & Pick<SessionTables, "iam_sessions">
>;

type NewFactor = Pick<SecondFactorsTable, "id" | "kind" | "counter"> & Partial<SecondFactorsTable>;

/** The most factors of one kind that an account has. */
const MOST = 10;

/**
 * The second factors in the database. Each change is a transaction that locks the account, so that the factors
 * and the recovery codes go together, whatever else happens at once.
 */
export class FactorStore {
  readonly #database: FactorDatabase;
  readonly #box: SecretBox;
  readonly #now: () => number;

  /** @param now milliseconds since the epoch */
  constructor(database: FactorDatabase, box: SecretBox, now: () => number = Date.now) {
    this.#database = database;
    this.#box = box;
    this.#now = now;
  }

  /** The factors of an account, the oldest first. */
  async list(accountId: string): Promise<readonly SecondFactor[]> {
    const rows = await rowsOf(this.#database, accountId);
    return rows.map(({ id, kind, create_time, use_time }) => ({
      id,
      kind,
      // PostgreSQL sends whole numbers of 64 bits as text.
      createTime: Number(create_time),
      useTime: use_time === null ? undefined : Number(use_time),
    }));
  }

  /** Whether an account has any. */
  has(accountId: string): Promise<boolean> {
    return hasFactor(this.#database, accountId);
  }

  /** The secrets of the apps of an account, with the time step of the last code. */
  async apps(accountId: string) {
    return this.#appsOf(await rowsOf(this.#database, accountId));
  }

  /** The passkeys of an account. */
  async passkeys(accountId: string): Promise<readonly StoredPasskey[]> {
    const rows = await rowsOf(this.#database, accountId);
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

  /** Adds the secret of an app, once: a code would count once for each copy. */
  async addApp(secret: string, step: number, addition: FactorAddition): Promise<AdditionResult> {
    const id = randomUUID();
    const sealed = this.#box.seal(secret, placeOf(id));
    const row = { id, kind: "totp", secret: sealed, counter: step } as const;
    return this.#add(row, addition, (known) =>
      this.#appsOf(known).some((one) => one.secret === secret),
    );
  }

  /** Adds a passkey of the account. */
  async addPasskey(
    { credentialId, publicKey, counter }: Omit<StoredPasskey, "id" | "accountId">,
    addition: FactorAddition,
  ): Promise<AdditionResult> {
    const id = randomUUID();
    const columns = { credential_id: credentialId, public_key: publicKey, counter };
    return this.#add({ id, kind: "passkey", ...columns }, addition);
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

  /**
   * Removes a factor, and with the last one the recovery codes, and how many codes were wrong.
   *
   * @param keepsLast whether the last one stays
   * @returns its kind; `last` if it stays; undefined if the account has no such factor
   */
  async remove(
    id: string,
    owner: FactorOwner,
    keepsLast: boolean,
  ): Promise<SecondFactor["kind"] | "last" | LostOwner | undefined> {
    const { accountId } = owner;
    return this.#owned(owner, async (tx) => {
      const known = await rowsOf(tx, accountId);
      const found = known.find((row) => row.id === id);
      if (found === undefined) return undefined;
      if (known.length === 1 && keepsLast) return "last";
      await tx.deleteFrom("iam_second_factors").where("id", "=", id).execute();
      if (known.length === 1) await forgetFactors(tx, accountId);
      return found.kind;
    });
  }

  /** Counts a code as wrong, as the function. @returns false if it must not be looked at */
  countFailure(accountId: string): Promise<boolean> {
    return countFailure(this.#users(), accountId);
  }

  /** Whether no code of an app of an account is looked at any more. */
  areAppsRefused(accountId: string): Promise<boolean> {
    return areAppsRefused(this.#users(), accountId);
  }

  /** A code or passkey was right, as the function. */
  forgetFailures(accountId: string): Promise<void> {
    return forgetFailures(this.#users(), accountId);
  }

  /** Removes all factors and recovery codes of an account. @returns how many factors */
  async removeAll(accountId: string): Promise<number> {
    const removed = await this.#locked(accountId, async (tx) => {
      const query = tx.deleteFrom("iam_second_factors").where("account_id", "=", accountId);
      const rows = await query.returning("id").execute();
      await forgetFactors(tx, accountId);
      return rows.length;
    });
    return removed ?? 0;
  }

  /** How many recovery codes an account has, and the version of all of them together. */
  codes(accountId: string): Promise<{ readonly count: number; readonly version: string }> {
    return codesOf(this.#database, accountId);
  }

  /**
   * Replaces the recovery codes of an account by others.
   *
   * @param version of the codes that are to be replaced: others stay, such as those that somebody has just stored
   */
  async replaceCodes(
    owner: FactorOwner,
    hashes: readonly string[],
    version: string,
  ): Promise<"replaced" | "changed" | "no_factor" | LostOwner> {
    const { accountId } = owner;
    return this.#owned(owner, async (tx) => {
      if ((await rowsOf(tx, accountId)).length === 0) return "no_factor";
      if ((await codesOf(tx, accountId)).version !== version) return "changed";
      await writeCodes(tx, accountId, hashes);
      return "replaced";
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

  #appsOf(rows: readonly SecondFactorsTable[]) {
    return rows
      .filter(({ kind }) => kind === "totp")
      .map(({ id, secret, counter }) => ({
        id,
        secret: this.#box.open(secret ?? "", placeOf(id)),
        lastStep: Number(counter),
      }));
  }

  /** @param isKnown whether one of the factors of the account is the same */
  async #add(
    row: NewFactor,
    { owner, firstCodes, onlyAsFirst = false }: FactorAddition,
    isKnown: (factors: readonly SecondFactorsTable[]) => boolean = () => false,
  ): Promise<AdditionResult> {
    const { accountId } = owner;
    return this.#owned<AdditionResult>(owner, async (tx) => {
      const known = await rowsOf(tx, accountId);
      if (isKnown(known)) return "known";
      if (onlyAsFirst && known.length > 0) return "not_first";
      if (known.filter(({ kind }) => kind === row.kind).length >= MOST) return "refused";
      const empty = { secret: null, credential_id: null, public_key: null, use_time: null };
      const { numInsertedOrUpdatedRows = 0n } = await tx
        .insertInto("iam_second_factors")
        .values({ ...empty, ...row, account_id: accountId, create_time: this.#now() })
        .onConflict((conflict) => conflict.column("credential_id").doNothing())
        .executeTakeFirst();
      if (numInsertedOrUpdatedRows === 0n) return "refused";
      if (known.length > 0) return "further";
      // What is left over from other factors must neither open the account nor lock it.
      await forgetFactors(tx, accountId);
      await writeCodes(tx, accountId, firstCodes);
      return "first";
    });
  }

  #users() {
    return this.#database.$pickTables<"iam_users">();
  }

  #owned<Result>(
    owner: FactorOwner,
    change: (tx: FactorDatabase) => Promise<Result>,
  ): Promise<Result | LostOwner> {
    return this.#database.transaction().execute(async (tx) => {
      const locked = tx.$pickTables<"iam_users" | "iam_sessions">();
      return (await lockOwner(locked, owner)) ? change(tx) : "lost_owner";
    });
  }

  /** @returns undefined where there is no such account */
  #locked<Result>(
    accountId: string,
    change: (tx: FactorDatabase) => Promise<Result>,
  ): Promise<Result | undefined> {
    return this.#database.transaction().execute(async (tx) => {
      const account = await lockAccount(tx.$pickTables<"iam_users">(), accountId);
      return account === undefined ? undefined : change(tx);
    });
  }
}

function rowsOf(database: FactorDatabase, accountId: string) {
  return database
    .selectFrom("iam_second_factors")
    .selectAll()
    .where("account_id", "=", accountId)
    .orderBy("create_time")
    .orderBy("id")
    .execute();
}

async function codesOf(database: FactorDatabase, accountId: string) {
  const rows = await database
    .selectFrom("iam_recovery_codes")
    .select("code_hash")
    .where("account_id", "=", accountId)
    .execute();
  // Not in the order of the database, which depends on its collation.
  const hashes = rows.map(({ code_hash }) => code_hash).sort();
  const version = createHash("sha256").update(hashes.join("\0")).digest("base64url");
  return { count: hashes.length, version };
}

/** What belongs to all factors of an account together. */
async function forgetFactors(tx: FactorDatabase, accountId: string) {
  await writeCodes(tx, accountId, []);
  await forgetFailures(tx.$pickTables<"iam_users">(), accountId);
}

async function writeCodes(tx: FactorDatabase, accountId: string, hashes: readonly string[]) {
  await tx.deleteFrom("iam_recovery_codes").where("account_id", "=", accountId).execute();
  if (hashes.length === 0) return;
  const rows = hashes.map((code_hash) => ({ account_id: accountId, code_hash }));
  await tx.insertInto("iam_recovery_codes").values(rows).execute();
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
