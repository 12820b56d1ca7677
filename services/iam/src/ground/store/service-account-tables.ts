import type { ColumnTypes, Kysely } from "svc-access/database";

/** Times are milliseconds since the epoch by the clock of the database, which PostgreSQL returns as text. */
type Time = number;

/** An account that a program uses. */
export interface ServiceAccountsTable {
  /** Random, and never used again: the client id, and the subject of its tokens. */
  readonly id: string;
  readonly display_name: string;
  /** A JSON array of the services that its tokens can be for. */
  readonly audience: string;
  /** 0 or 1. */
  readonly disabled: number;
  readonly etag: string;
  readonly create_time: Time;
  readonly update_time: Time;
  /** From then on nobody sees the account; the row goes when its relationships have gone. */
  readonly deleted_time: Time | null;
}

/** A key of a service account: a secret or a public key. */
export interface ServiceAccountKeysTable {
  readonly id: string;
  readonly account_id: string;
  /** The SHA-256 hash of a secret of 256 random bits; null for a public key. */
  readonly secret_hash: string | null;
  /** The public key as a JWK; null for a secret. */
  readonly public_key: string | null;
  /** That of the public key (RFC 7638): an account has it once. */
  readonly thumbprint: string | null;
  /** The claim `sid` of the tokens that are issued for the key, by which they end. */
  readonly sid: string;
  readonly create_time: Time;
  /** From when on it is not accepted; null: it does not expire. */
  readonly expire_time: Time | null;
}

/** The tables of service accounts. */
export interface ServiceAccountTables {
  readonly iam_service_accounts: ServiceAccountsTable;
  readonly iam_service_account_keys: ServiceAccountKeysTable;
}

/** What service accounts need in PostgreSQL. */
export const SERVICE_ACCOUNT_RIGHTS = {
  iam_service_accounts: ["select", "insert", "update", "delete"],
  iam_service_account_keys: ["select", "insert", "update", "delete"],
} as const;

/** Creates the tables of `ServiceAccountTables`. */
// biome-ignore lint/suspicious/noExplicitAny: a migration creates the tables that a type would name
export async function createServiceAccountTables(db: Kysely<any>, types: ColumnTypes) {
  const { text, whole } = types;
  await db.schema
    .createTable("iam_service_accounts")
    .addColumn("id", text, (column) => column.primaryKey())
    .addColumn("display_name", text, (column) => column.notNull())
    .addColumn("audience", text, (column) => column.notNull())
    .addColumn("disabled", whole, (column) => column.notNull())
    .addColumn("etag", text, (column) => column.notNull())
    .addColumn("create_time", whole, (column) => column.notNull())
    .addColumn("update_time", whole, (column) => column.notNull())
    .addColumn("deleted_time", whole)
    .execute();
  await db.schema
    .createTable("iam_service_account_keys")
    .addColumn("id", text, (column) => column.primaryKey())
    .addColumn("account_id", text, (column) => column.notNull())
    .addColumn("secret_hash", text)
    .addColumn("public_key", text)
    .addColumn("thumbprint", text)
    .addColumn("sid", text, (column) => column.notNull())
    .addColumn("create_time", whole, (column) => column.notNull())
    .addColumn("expire_time", whole)
    .addUniqueConstraint("iam_service_account_public_keys", ["account_id", "thumbprint"])
    .execute();
}
