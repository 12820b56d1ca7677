import { randomUUID } from "node:crypto";
import { searchKey } from "../../ground/store/user-search-keys.ts";
import { type AccountTable, accountOf, type LocalAccount } from "./account-row.ts";
import { usernameKey } from "./account-texts.ts";
import { endLogins } from "./end-logins.ts";
import { displayColumns } from "./local-accounts.ts";
import { lockAccount } from "./lock-account.ts";

/** What an administrator may change of an account; its values are valid. */
export interface AccountChange {
  readonly username?: string;
  readonly displayName?: string;
  readonly email?: string;
  readonly avatarUrl?: string;
}

/** Changes of accounts by administrators, each as a part of a transaction. */
export class AccountChanges {
  readonly #organization: string;
  readonly #now: () => number;

  /**
   * @param organization `iam.organization`, which all accounts belong to
   * @param now milliseconds since the epoch
   */
  constructor(organization: string, now: () => number = Date.now) {
    this.#organization = organization;
    this.#now = now;
  }

  /**
   * Locks accounts until the transaction ends: others that change them wait.
   *
   * @returns the ids of those that are enabled
   */
  async lock(database: AccountTable, ids: readonly string[]): Promise<ReadonlySet<string>> {
    const enabled = new Set<string>();
    // In one order, so that two that lock the same accounts do not wait for each other.
    for (const id of [...new Set(ids)].sort()) {
      const account = await lockAccount(database, id);
      if (account?.isEnabled === true) enabled.add(id);
    }
    return enabled;
  }

  /**
   * Changes an account.
   *
   * @param etag the account is changed only if it still has this one
   * @returns undefined where there is no such account, or it has another etag
   * @throws a unique violation where the user name is taken
   */
  async update(
    database: AccountTable,
    id: string,
    { username, displayName, email, avatarUrl }: AccountChange,
    etag: string,
  ): Promise<LocalAccount | undefined> {
    const name = username === undefined ? {} : { username, username_key: usernameKey(username) };
    return this.#set(
      database,
      id,
      {
        ...name,
        ...(displayName === undefined ? {} : displayColumns(displayName)),
        ...(email === undefined ? {} : { email, email_key: searchKey(email) }),
        ...(avatarUrl === undefined ? {} : { avatar_url: avatarUrl }),
      },
      etag,
    );
  }

  /** Lets an account log in, or not. @returns undefined where there is no such account */
  async setDisabled(
    database: AccountTable,
    id: string,
    disabled: boolean,
  ): Promise<LocalAccount | undefined> {
    // Logins that have begun with the password end, also if it is enabled again before they are complete.
    if (disabled) await endLogins(database, id);
    return this.#set(database, id, { disabled: disabled ? 1 : 0 });
  }

  /**
   * Marks an account as deleted: nobody sees it any more, and its user name is free.
   *
   * @returns false where there is no such account
   */
  async markDeleted(database: AccountTable, id: string): Promise<boolean> {
    await endLogins(database, id);
    const marked = await this.#set(database, id, {
      // No user name has a colon.
      username_key: `deleted:${id}`,
      password_hash: null,
      deleted_time: this.#now(),
    });
    return marked !== undefined;
  }

  async #set(
    database: AccountTable,
    id: string,
    values: Readonly<Record<string, string | number | null>>,
    etag?: string,
  ): Promise<LocalAccount | undefined> {
    let query = database
      .updateTable("iam_users")
      .set({ ...values, etag: randomUUID(), update_time: this.#now() })
      .where("id", "=", id)
      .where("deleted_time", "is", null);
    if (etag !== undefined) query = query.where("etag", "=", etag);
    const row = await query.returningAll().executeTakeFirst();
    return row === undefined ? undefined : accountOf(row, this.#organization);
  }
}
