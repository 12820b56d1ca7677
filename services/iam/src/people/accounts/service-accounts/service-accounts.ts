import { randomUUID } from "node:crypto";
import {
  databaseTime,
  type Kysely,
  type Selectable,
  type ServiceDatabase,
} from "svc-access/database";
import type {
  ServiceAccountsTable,
  ServiceAccountTables,
} from "../../../ground/store/service-account-tables.ts";
import { isStorable } from "../../../ground/store/storable-text.ts";
import type { ServiceAccount, ServiceAccountLogin } from "./service-account.ts";
import { keyOf } from "./service-account-keys.ts";

/** The tables of service accounts, such as in a transaction. */
export type ServiceAccountDatabase = Kysely<ServiceAccountTables>;

/** What an administrator sets of a service account; its values are valid. */
export interface ServiceAccountFields {
  readonly displayName: string;
  readonly audience: readonly string[];
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The service accounts in the database, without those of the configuration. */
export class ServiceAccounts {
  readonly #database: ServiceDatabase<ServiceAccountTables>;
  readonly #now: (() => number) | undefined;

  /** @param now instead of the clock of the database; for tests */
  constructor(database: ServiceDatabase<ServiceAccountTables>, now?: () => number) {
    this.#database = database;
    this.#now = now;
  }

  /**
   * Creates an account, in a transaction.
   *
   * @param id one that was never used
   */
  async create(
    database: ServiceAccountDatabase,
    { displayName, audience }: ServiceAccountFields,
    id: string = randomUUID(),
  ): Promise<ServiceAccount> {
    const now = this.time();
    const row = await database
      .insertInto("iam_service_accounts")
      .values({
        id,
        display_name: displayName,
        audience: JSON.stringify(audience),
        disabled: 0,
        etag: randomUUID(),
        create_time: now,
        update_time: now,
        deleted_time: null,
      })
      .returningAll()
      .executeTakeFirstOrThrow();
    return accountOf(row);
  }

  /** An account by its id, also a disabled one; undefined where there is none. */
  async find(id: string): Promise<ServiceAccount | undefined> {
    if (!isStorable(id)) return undefined;
    const row = await this.#database.kysely
      .selectFrom("iam_service_accounts")
      .selectAll()
      .where("id", "=", id)
      .where("deleted_time", "is", null)
      .executeTakeFirst();
    return row === undefined ? undefined : accountOf(row);
  }

  /** The account that may get tokens with one of its keys; undefined where none of them counts now. */
  async findForLogin(id: string): Promise<ServiceAccountLogin | undefined> {
    // Anybody may ask.
    if (!UUID.test(id)) return undefined;
    const account = await this.find(id);
    if (account === undefined || account.disabled) return undefined;
    const rows = await this.#database.kysely
      .selectFrom("iam_service_account_keys")
      .selectAll()
      .where("account_id", "=", id)
      .where((row) =>
        row.or([row("expire_time", "is", null), row("expire_time", ">", this.time())]),
      )
      .orderBy("id")
      .execute();
    return rows.length === 0 ? undefined : { account, keys: rows.map(keyOf) };
  }

  /**
   * Accounts by id.
   *
   * @param after the id after which they begin; empty: the first
   */
  async list(after: string, limit: number): Promise<readonly ServiceAccount[]> {
    const rows = await this.#database.kysely
      .selectFrom("iam_service_accounts")
      .selectAll()
      .where("id", ">", after)
      .where("deleted_time", "is", null)
      .orderBy("id")
      .limit(limit)
      .execute();
    return rows.map(accountOf);
  }

  /**
   * Changes an account, in a transaction; without a change, it locks the account until the end.
   *
   * @param etag the account is changed only if it still has this one; undefined: not checked
   * @returns undefined where there is no such account, or it has another etag
   */
  async change(
    database: ServiceAccountDatabase,
    id: string,
    change: Partial<ServiceAccountFields> & { readonly disabled?: boolean },
    etag?: string,
  ): Promise<ServiceAccount | undefined> {
    const { displayName, audience, disabled } = change;
    return this.#set(
      database,
      id,
      {
        ...(displayName === undefined ? {} : { display_name: displayName }),
        ...(audience === undefined ? {} : { audience: JSON.stringify(audience) }),
        ...(disabled === undefined ? {} : { disabled: disabled ? 1 : 0 }),
      },
      etag,
    );
  }

  /** Marks an account as deleted: nobody sees it any more. @returns false where there is no such account */
  async markDeleted(database: ServiceAccountDatabase, id: string): Promise<boolean> {
    return (await this.#set(database, id, { deleted_time: this.time() })) !== undefined;
  }

  /** Now, by the clock that replicas share. */
  time() {
    return databaseTime(this.#database.kind, this.#now);
  }

  async #set(
    database: ServiceAccountDatabase,
    id: string,
    values: Readonly<Record<string, unknown>>,
    etag?: string,
  ): Promise<ServiceAccount | undefined> {
    const isChange = Object.keys(values).length > 0;
    let query = database
      .updateTable("iam_service_accounts")
      .set((row) =>
        isChange
          ? { ...values, etag: randomUUID(), update_time: this.time() }
          : { etag: row.ref("etag") },
      )
      .where("id", "=", id)
      .where("deleted_time", "is", null);
    if (etag !== undefined) query = query.where("etag", "=", etag);
    const row = await query.returningAll().executeTakeFirst();
    return row === undefined ? undefined : accountOf(row);
  }
}

function accountOf(row: Selectable<ServiceAccountsTable>): ServiceAccount {
  return {
    id: row.id,
    displayName: row.display_name,
    audience: JSON.parse(row.audience),
    // PostgreSQL sends whole numbers of 64 bits as text.
    disabled: Number(row.disabled) !== 0,
    etag: row.etag,
    createTime: Number(row.create_time),
    updateTime: Number(row.update_time),
  };
}
