import type { ColumnTypes, Kysely } from "svc-access/database";

/** Something that one operation at a time may change, or rely on, while it takes owners from a zone. */
export interface OwnerClaimsTable {
  /** The object, as `type:id`. */
  readonly object: string;
  /** The operation. */
  readonly holder: string;
  /** When it ends if the process does not end it, in milliseconds since the epoch, by the clock of the database. */
  readonly expire_time: number;
}

/** The table of the claims. */
export interface OwnerClaimTables {
  readonly iam_owner_claims: OwnerClaimsTable;
}

/** What claims need in PostgreSQL. */
export const OWNER_CLAIM_RIGHTS = {
  iam_owner_claims: ["select", "insert", "update", "delete"],
} as const;

/** Creates the table of the claims. */
// biome-ignore lint/suspicious/noExplicitAny: a migration creates the tables that a type would name
export async function createOwnerClaims(db: Kysely<any>, types: ColumnTypes): Promise<void> {
  const { text, whole } = types;
  await db.schema
    .createTable("iam_owner_claims")
    .addColumn("object", text, (column) => column.primaryKey())
    .addColumn("holder", text, (column) => column.notNull())
    .addColumn("expire_time", whole, (column) => column.notNull())
    .execute();
}
