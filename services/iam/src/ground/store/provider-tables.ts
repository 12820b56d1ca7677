import type { ColumnTypes, Kysely, Selectable } from "svc-access/database";
import { createSessionTables, SESSION_RIGHTS, type SessionTables } from "./session-tables.ts";

/** A stored document of the embedded provider: a token, code, session, grant or the like. */
export interface ProviderDocumentsTable {
  /** The kind of document, as `oidc-provider` names its models, such as `RefreshToken`. */
  readonly model: string;
  /** Its id; of one whose id is a credential, the SHA-256 hash. */
  readonly id: string;
  /** The grant that it belongs to, with which it ends. */
  readonly grant_id: string | null;
  /** The public id of a session; its `id` is that of its cookie. */
  readonly uid: string | null;
  /** The hash of a device's user code. */
  readonly user_code: string | null;
  /** The `uid` of the session that it belongs to. */
  readonly session_uid: string | null;
  /** The account that it belongs to. */
  readonly account_id: string | null;
  /** The document in JSON, sealed. */
  readonly payload: string;
  /** When it may be deleted, in milliseconds since the epoch. */
  readonly expire_time: number;
  /** When it was first used. */
  readonly consumed_time: number | null;
  /** The id of the refresh token that this one succeeds; those with the same one are siblings. */
  readonly parent_id: string | null;
  /** When another one of its family ended it. */
  readonly ended_time: number | null;
}

/** A key of the embedded provider. */
export interface KeysTable {
  /** Its id, `kid` of a signing key. */
  readonly kid: string;
  /** What it is used for. */
  readonly purpose: string;
  /** The private JWK, sealed. */
  readonly material: string;
  /** `next` is published but does not sign yet, `retired` no longer signs. */
  readonly state: KeyState;
  /** When it was made and published, in milliseconds since the epoch. */
  readonly create_time: number;
  /** When it began to sign. */
  readonly current_time: number | null;
  /** When it ceased to sign. */
  readonly retire_time: number | null;
}

/** The states of a key, in their order. */
export type KeyState = "next" | "current" | "retired";

/** The tables of the embedded provider. */
export interface ProviderTables extends SessionTables {
  readonly iam_provider_documents: ProviderDocumentsTable;
  readonly iam_keys: KeysTable;
}

/** A row of `iam_provider_documents`. */
export type ProviderDocumentRow = Selectable<ProviderDocumentsTable>;

/** A row of `iam_keys`. */
export type KeyRow = Selectable<KeysTable>;

/** What the provider needs in PostgreSQL. */
export const PROVIDER_RIGHTS = {
  iam_provider_documents: ["select", "insert", "update", "delete"],
  iam_keys: ["select", "insert", "update", "delete"],
  ...SESSION_RIGHTS,
} as const;

/** Creates the tables of the embedded provider. */
// biome-ignore lint/suspicious/noExplicitAny: a migration creates the tables that a type would name
export async function createProviderTables(db: Kysely<any>, types: ColumnTypes): Promise<void> {
  const { text, whole } = types;
  await db.schema
    .createTable("iam_provider_documents")
    .addColumn("model", text, (column) => column.notNull())
    .addColumn("id", text, (column) => column.notNull())
    .addColumn("grant_id", text)
    .addColumn("uid", text)
    .addColumn("user_code", text)
    .addColumn("session_uid", text)
    .addColumn("account_id", text)
    .addColumn("payload", text, (column) => column.notNull())
    .addColumn("expire_time", whole, (column) => column.notNull())
    .addColumn("consumed_time", whole)
    .addColumn("parent_id", text)
    .addColumn("ended_time", whole)
    .addPrimaryKeyConstraint("iam_provider_documents_key", ["model", "id"])
    .execute();
  for (const column of INDEXED) {
    await db.schema
      .createIndex(`iam_provider_documents_${column}`)
      .on("iam_provider_documents")
      .column(column)
      // Most rows have no value in most of these columns.
      .where(column, "is not", null)
      .execute();
  }
  await db.schema
    .createTable("iam_keys")
    .addColumn("kid", text, (column) => column.primaryKey())
    .addColumn("purpose", text, (column) => column.notNull())
    .addColumn("material", text, (column) => column.notNull())
    .addColumn("state", text, (column) => column.notNull())
    .addColumn("create_time", whole, (column) => column.notNull())
    .addColumn("current_time", whole)
    .addColumn("retire_time", whole)
    .execute();
  // Of several processes that make the first keys at once, one succeeds.
  await db.schema
    .createIndex("iam_keys_state")
    .unique()
    .on("iam_keys")
    .columns(["purpose", "state"])
    .where("state", "!=", "retired")
    .execute();
  await createSessionTables(db, types);
}

const INDEXED = [
  "grant_id",
  "uid",
  "user_code",
  "session_uid",
  "account_id",
  "parent_id",
  "expire_time",
] as const;
