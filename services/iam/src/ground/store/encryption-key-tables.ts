import type { ColumnTypes, Kysely } from "svc-access/database";

/** An encryption key that a replica has had: whoever makes up the id of one cannot store it. */
export interface EncryptionKeyIdsTable {
  readonly id: string;
  /** Milliseconds since the epoch by the clock of the database, as all times. */
  readonly create_time: number;
}

/** The table of the ids of encryption keys. */
export interface EncryptionKeyTables {
  readonly iam_encryption_key_ids: EncryptionKeyIdsTable;
}

/** What the ids of encryption keys need in PostgreSQL. */
export const ENCRYPTION_KEY_RIGHTS = {
  iam_encryption_key_ids: ["select", "insert"],
} as const;

/** Creates the table of the ids of encryption keys. */
// biome-ignore lint/suspicious/noExplicitAny: a migration creates the tables that a type would name
export async function createEncryptionKeyIds(db: Kysely<any>, types: ColumnTypes): Promise<void> {
  const { text, whole } = types;
  await db.schema
    .createTable("iam_encryption_key_ids")
    .addColumn("id", text, (column) => column.primaryKey())
    .addColumn("create_time", whole, (column) => column.notNull())
    .execute();
}
