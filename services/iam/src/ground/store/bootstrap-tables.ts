import type { ColumnTypes, Kysely, Selectable } from "svc-access/database";

/** A link that makes the first owner of a zone. */
export interface BootstrapLinksTable {
  /** The SHA-256 hash of the token in the link. */
  readonly token_hash: string;
  readonly zone: string;
  /** The id of the local user that it makes. */
  readonly account_id: string;
  /** JSON of the user that is being made: it becomes visible once it owns the zone. */
  readonly pending: string | null;
  /** Milliseconds since the epoch, as all times. */
  readonly create_time: number;
  readonly expire_time: number;
  readonly used_time: number | null;
}

/** The tables of the first owner. */
export interface BootstrapTables {
  readonly iam_bootstrap_links: BootstrapLinksTable;
}

/** A row of `iam_bootstrap_links`. */
export type BootstrapLinkRow = Selectable<BootstrapLinksTable>;

/** What the links need in PostgreSQL. */
export const BOOTSTRAP_RIGHTS = {
  iam_bootstrap_links: ["select", "insert", "update", "delete"],
} as const;

/** Creates the tables of the first owner. */
// biome-ignore lint/suspicious/noExplicitAny: a migration creates the tables that a type would name
export async function createBootstrapTables(db: Kysely<any>, types: ColumnTypes): Promise<void> {
  const { text, whole } = types;
  await db.schema
    .createTable("iam_bootstrap_links")
    .addColumn("token_hash", text, (column) => column.primaryKey())
    .addColumn("zone", text, (column) => column.notNull())
    .addColumn("account_id", text, (column) => column.notNull())
    .addColumn("pending", text)
    .addColumn("create_time", whole, (column) => column.notNull())
    .addColumn("expire_time", whole, (column) => column.notNull())
    .addColumn("used_time", whole)
    .execute();
}
