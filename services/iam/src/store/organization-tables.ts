import type { ColumnTypes, Kysely } from "svc-access/database";

/** The record of an organization. */
export interface OrganizationsTable {
  /** Also that of its zone. The row of a deleted one stays, so that its id is never used again. */
  readonly id: string;
  readonly display_name: string;
  readonly website_url: string;
  readonly etag: string;
  /** Milliseconds since the epoch by the clock of the database, as all times. */
  readonly create_time: number;
  readonly update_time: number;
  /** From then on nobody sees it. */
  readonly deleted_time: number | null;
}

/** The table of the organizations. */
export interface OrganizationTables {
  readonly iam_organizations: OrganizationsTable;
}

/** What organizations need in PostgreSQL. */
export const ORGANIZATION_RIGHTS = {
  iam_organizations: ["select", "insert", "update"],
} as const;

/** Creates the table of `OrganizationTables`. */
// biome-ignore lint/suspicious/noExplicitAny: a migration creates the tables that a type would name
export async function createOrganizationTables(db: Kysely<any>, types: ColumnTypes): Promise<void> {
  const { text, whole } = types;
  await db.schema
    .createTable("iam_organizations")
    .addColumn("id", text, (column) => column.primaryKey())
    .addColumn("display_name", text, (column) => column.notNull())
    .addColumn("website_url", text, (column) => column.notNull())
    .addColumn("etag", text, (column) => column.notNull())
    .addColumn("create_time", whole, (column) => column.notNull())
    .addColumn("update_time", whole, (column) => column.notNull())
    .addColumn("deleted_time", whole)
    .execute();
}
