import type { ColumnTypes, Kysely } from "svc-access/database";

/** The table of the organization that the users belong to. */
export interface UserOrganizationTables {
  readonly iam_user_organization: {
    /** There is one row. */
    readonly slot: 1;
    readonly organization: string;
  };
}

/** What it needs in PostgreSQL. */
export const USER_ORGANIZATION_RIGHTS = {
  iam_user_organization: ["select", "insert", "update"],
} as const;

/** Creates the table. */
// biome-ignore lint/suspicious/noExplicitAny: a migration creates the tables that a type would name
export async function createUserOrganization(db: Kysely<any>, types: ColumnTypes): Promise<void> {
  const { text, whole } = types;
  await db.schema
    .createTable("iam_user_organization")
    .addColumn("slot", whole, (column) => column.primaryKey())
    .addColumn("organization", text, (column) => column.notNull())
    .execute();
}
