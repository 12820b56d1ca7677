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

/** The creation of an organization whose first owner may be stored, and whose record is not yet. */
export interface OrganizationCreationsTable {
  readonly id: string;
  readonly display_name: string;
  readonly website_url: string;
  /** That of the last call that is about to create it. */
  readonly token: string;
  readonly begin_time: number;
}

/** The tables of the organizations. */
export interface OrganizationTables {
  readonly iam_organizations: OrganizationsTable;
  readonly iam_organization_creations: OrganizationCreationsTable;
}

/** What organizations need in PostgreSQL. */
export const ORGANIZATION_RIGHTS = {
  iam_organizations: ["select", "insert", "update"],
  iam_organization_creations: ["select", "insert", "update", "delete"],
} as const;

/** Creates the table of the organizations. */
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

/** Creates the table of the creations that are under way. */
// biome-ignore lint/suspicious/noExplicitAny: a migration creates the tables that a type would name
export async function createOrganizationCreations(db: Kysely<any>, types: ColumnTypes) {
  const { text, whole } = types;
  await db.schema
    .createTable("iam_organization_creations")
    .addColumn("id", text, (column) => column.primaryKey())
    .addColumn("display_name", text, (column) => column.notNull())
    .addColumn("website_url", text, (column) => column.notNull())
    .addColumn("token", text, (column) => column.notNull())
    .addColumn("begin_time", whole, (column) => column.notNull())
    .execute();
}
