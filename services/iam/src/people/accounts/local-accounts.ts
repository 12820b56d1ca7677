import { randomUUID } from "node:crypto";
import type { Kysely } from "svc-access/database";
import { ServiceError } from "svc-access/runtime";
import { isStorable } from "../../ground/store/storable-text.ts";
import { searchKey } from "../../ground/store/user-search-keys.ts";
import type { UserTables } from "../../ground/store/user-tables.ts";
import { type AccountRow, type AccountTable, accountOf, type LocalAccount } from "./account-row.ts";
import { usernameKey } from "./account-texts.ts";
import { endLogins } from "./end-logins.ts";
import { holdPassword } from "./hold-password.ts";

/** A new account; its fields are valid. */
export interface NewAccount {
  readonly username: string;
  readonly displayName: string;
  readonly email: string;
  readonly passwordHash: string;
}

/** An account with the hash of its password, which no other part sees. */
export interface LoginAccount {
  readonly account: LocalAccount;
  readonly passwordHash: string | undefined;
  /** Counts the changes of the password. */
  readonly passwordVersion: number;
}

/** What a user may change of the own account. */
export interface ProfileChange {
  readonly displayName?: string;
  readonly avatarUrl?: string;
}

/** What a new account is written to. */
type NewAccountTables = Kysely<Pick<UserTables, "iam_users" | "iam_user_organization">>;

/** The local users in the database. */
export class LocalAccounts {
  /** `iam.organization`, which all of them belong to. */
  readonly organization: string;
  readonly #database: Kysely<UserTables>;
  readonly #now: () => number;

  /**
   * @param organization `iam.organization`
   * @param now milliseconds since the epoch
   */
  constructor(database: Kysely<UserTables>, organization: string, now: () => number = Date.now) {
    this.#database = database;
    this.organization = organization;
    this.#now = now;
  }

  /**
   * Creates an account.
   *
   * @param id one that was never used
   * @param database a transaction that it is a part of
   * @returns undefined where the user name is taken
   * @throws ServiceError FAILED_PRECONDITION where the users of the database belong to another organization
   */
  async create(
    account: NewAccount,
    id: string = randomUUID(),
    database: NewAccountTables = this.#newAccounts(),
  ): Promise<LocalAccount | undefined> {
    const { isTransaction } = database;
    const create = (tx: NewAccountTables) => this.#create(tx, account, id);
    return isTransaction ? create(database) : database.transaction().execute(create);
  }

  /**
   * Checks that accounts can be made here, before anything else is made for one.
   *
   * @throws ServiceError FAILED_PRECONDITION, as `create`
   */
  async assertOpen(): Promise<void> {
    await this.#holdOrganization(this.#newAccounts());
  }

  #newAccounts(): NewAccountTables {
    return this.#database.$pickTables<"iam_users" | "iam_user_organization">();
  }

  async #create(
    database: NewAccountTables,
    { username, displayName, email, passwordHash }: NewAccount,
    id: string,
  ): Promise<LocalAccount | undefined> {
    await this.#holdOrganization(database);
    const now = this.#now();
    const row: AccountRow = {
      id,
      username,
      username_key: usernameKey(username),
      ...displayColumns(displayName),
      email,
      email_key: searchKey(email),
      avatar_url: "",
      password_hash: passwordHash,
      password_version: 0,
      factor_failures: 0,
      disabled: 0,
      etag: randomUUID(),
      create_time: now,
      update_time: now,
      deleted_time: null,
    };
    const { numInsertedOrUpdatedRows = 0n } = await database
      .insertInto("iam_users")
      .values(row)
      .onConflict((conflict) => conflict.column("username_key").doNothing())
      .executeTakeFirst();
    return numInsertedOrUpdatedRows === 0n ? undefined : this.#account(row);
  }

  /**
   * A start with another organization, while there was nobody yet, has taken the database over. Until the transaction
   * ends none does: it waits.
   */
  async #holdOrganization(database: NewAccountTables): Promise<void> {
    const stored = await database
      .updateTable("iam_user_organization")
      // It locks the row, in both kinds of databases.
      .set((row) => ({ organization: row.ref("organization") }))
      .returning("organization")
      .executeTakeFirst();
    if (stored === undefined || stored.organization === this.organization) return;
    throw new ServiceError(
      "FAILED_PRECONDITION",
      `the users of this database belong to ${stored.organization} since a later start: correct iam.organization of the replicas`,
    );
  }

  /** An account by its id, also a disabled one; undefined where there is none. */
  async find(id: string): Promise<LocalAccount | undefined> {
    if (!isStorable(id)) return undefined;
    const row = await this.#database
      .selectFrom("iam_users")
      .selectAll()
      .where("id", "=", id)
      .where("deleted_time", "is", null)
      .executeTakeFirst();
    return row === undefined ? undefined : this.#account(row);
  }

  /** Accounts by their ids, as `find` has them. */
  async findAll(ids: readonly string[]): Promise<ReadonlyMap<string, LocalAccount>> {
    const rows = await this.#database
      .selectFrom("iam_users")
      .selectAll()
      .where("id", "in", ids)
      .where("deleted_time", "is", null)
      .execute();
    return new Map(rows.map((row) => [row.id, this.#account(row)]));
  }

  /** An account by its normalized user name, with its hash. */
  async findForLogin(key: string): Promise<LoginAccount | undefined> {
    if (!isStorable(key)) return undefined;
    const row = await this.#database
      .selectFrom("iam_users")
      .selectAll()
      .where("username_key", "=", key)
      .where("deleted_time", "is", null)
      .executeTakeFirst();
    if (row === undefined) return undefined;
    return {
      account: this.#account(row),
      passwordHash: row.password_hash ?? undefined,
      // PostgreSQL sends whole numbers of 64 bits as text.
      passwordVersion: Number(row.password_version),
    };
  }

  /** The version of the password of an enabled account; undefined for another one. */
  async passwordVersion(id: string): Promise<number | undefined> {
    const row = await this.#database
      .selectFrom("iam_users")
      .select("password_version")
      .where("id", "=", id)
      .where("disabled", "=", 0)
      .where("deleted_time", "is", null)
      .executeTakeFirst();
    return row && Number(row.password_version);
  }

  /**
   * Changes an account.
   *
   * @param etag the account is changed only if it still has this one; undefined: not checked
   * @returns undefined where there is no such account, or it has another etag
   */
  async changeProfile(
    id: string,
    { displayName, avatarUrl }: ProfileChange,
    etag: string | undefined,
  ): Promise<LocalAccount | undefined> {
    let query = this.#database
      .updateTable("iam_users")
      .set({
        ...(displayName === undefined ? {} : displayColumns(displayName)),
        ...(avatarUrl === undefined ? {} : { avatar_url: avatarUrl }),
        etag: randomUUID(),
        update_time: this.#now(),
      })
      .where("id", "=", id)
      .where("deleted_time", "is", null);
    if (etag !== undefined) query = query.where("etag", "=", etag);
    const row = await query.returningAll().executeTakeFirst();
    return row === undefined ? undefined : this.#account(row);
  }

  /**
   * Sets a new password, in a transaction.
   *
   * @param version the password is changed only if it still has this one; undefined: not checked
   * @returns false where there is no such account, it is disabled, or has another version
   */
  async setPassword(
    database: AccountTable,
    id: string,
    hash: string,
    version?: number,
  ): Promise<boolean> {
    let query = database
      .updateTable("iam_users")
      .set((row) => ({
        password_hash: hash,
        password_version: row("password_version", "+", 1),
        // Whoever guesses codes has the former one.
        factor_failures: 0,
        etag: randomUUID(),
        update_time: this.#now(),
      }))
      .where("id", "=", id)
      .where("disabled", "=", 0)
      .where("deleted_time", "is", null);
    if (version !== undefined) query = query.where("password_version", "=", version);
    return (await query.executeTakeFirst()).numUpdatedRows > 0n;
  }

  /** As the function: whether an account is enabled, and its password still has a version. */
  holdPassword(database: AccountTable, id: string, version?: number): Promise<boolean> {
    return holdPassword(database, id, version);
  }

  /** As the function: ends the logins of an account that are under way. */
  endLogins(database: AccountTable, id: string): Promise<void> {
    return endLogins(database, id);
  }

  /** Replaces a hash by one of the same password, unless the password was changed meanwhile. */
  async replaceHash(id: string, former: string | undefined, hash: string): Promise<void> {
    await this.#database
      .updateTable("iam_users")
      .set({ password_hash: hash })
      .where("id", "=", id)
      .where("password_hash", "=", former ?? "")
      .execute();
  }

  #account(row: AccountRow): LocalAccount {
    return accountOf(row, this.organization);
  }
}

/** The columns of a display name. */
export function displayColumns(displayName: string) {
  return { display_name: displayName, display_key: searchKey(displayName) };
}
