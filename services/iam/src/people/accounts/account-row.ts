import type { Kysely, Selectable } from "svc-access/database";
import type { UserTables } from "../../ground/store/user-tables.ts";
import type { Account } from "./account.ts";

/** The table of the accounts, such as in a transaction. */
export type AccountTable = Kysely<Pick<UserTables, "iam_users">>;

/** A row of the accounts. */
export type AccountRow = Selectable<UserTables["iam_users"]>;

/** The columns that an account is made of. */
export type AccountColumns = Pick<
  AccountRow,
  | "id"
  | "username"
  | "display_name"
  | "email"
  | "avatar_url"
  | "disabled"
  | "etag"
  | "create_time"
  | "update_time"
>;

/** A local account, with what only this service keeps of it. */
export interface LocalAccount extends Account {
  readonly avatarUrl: string;
  /** Changes with each change of the account. */
  readonly etag: string;
  /** Milliseconds since the epoch. */
  readonly createTime: number;
  /** Milliseconds since the epoch. */
  readonly updateTime: number;
}

/** The account of a row. */
export function accountOf(row: AccountColumns, organizationId: string): LocalAccount {
  return {
    id: row.id,
    subjectType: "user",
    username: row.username,
    displayName: row.display_name,
    email: row.email,
    organizationId,
    avatarUrl: row.avatar_url,
    // PostgreSQL sends whole numbers of 64 bits as text.
    disabled: Number(row.disabled) !== 0,
    etag: row.etag,
    createTime: Number(row.create_time),
    updateTime: Number(row.update_time),
  };
}
