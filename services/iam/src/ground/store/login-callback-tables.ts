import type { ColumnTypes, Kysely } from "svc-access/database";

/** The callback of a login that has come: no other one of the same login counts. */
export interface LoginCallbacksTable {
  /** The SHA-256 hash of the login's state. */
  readonly state_hash: string;
  /** When the login would have expired, in milliseconds since the epoch: then the row may be deleted. */
  readonly expire_time: number;
}

/** The table of callbacks. */
export interface LoginCallbackTables {
  readonly iam_login_callbacks: LoginCallbacksTable;
}

/** What callbacks need in PostgreSQL. */
export const LOGIN_CALLBACK_RIGHTS = {
  iam_login_callbacks: ["select", "insert", "delete"],
} as const;

/** Creates the table of callbacks. */
export async function createLoginCallbackTables(
  // biome-ignore lint/suspicious/noExplicitAny: a migration creates the tables that a type would name
  db: Kysely<any>,
  { text, whole }: ColumnTypes,
): Promise<void> {
  await db.schema
    .createTable("iam_login_callbacks")
    .addColumn("state_hash", text, (column) => column.primaryKey())
    .addColumn("expire_time", whole, (column) => column.notNull())
    .execute();
  await db.schema
    .createIndex("iam_login_callbacks_expire_time")
    .on("iam_login_callbacks")
    .column("expire_time")
    .execute();
}
