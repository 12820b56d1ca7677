import type { ColumnTypes, Kysely } from "svc-access/database";

/** A link by which a new password is set. */
export interface PasswordResetLinksTable {
  /** Whose password it sets: one link for an account, which a new one replaces. */
  readonly account_id: string;
  /** The SHA-256 hash of the token in the link. */
  readonly token_hash: string;
  /** Milliseconds since the epoch, as all times, by the clock of the database. */
  readonly create_time: number;
  readonly expire_time: number;
  readonly used_time: number | null;
  /** The subject type of who made it; null in a link that was made before this was stored. */
  readonly maker_type: string | null;
  /** The id of who made it; null likewise. */
  readonly maker_id: string | null;
}

/** The table of the links that reset passwords. */
export interface PasswordTables {
  readonly iam_password_reset_links: PasswordResetLinksTable;
}

/** What passwords need in PostgreSQL. */
export const PASSWORD_RIGHTS = {
  iam_password_reset_links: ["select", "insert", "update", "delete"],
} as const;

/** Creates the table of the links, and the versions of passwords. */
// biome-ignore lint/suspicious/noExplicitAny: a migration creates the tables that a type would name
export async function createPasswordTables(db: Kysely<any>, types: ColumnTypes): Promise<void> {
  const { text, whole } = types;
  await db.schema
    .alterTable("iam_users")
    .addColumn("password_version", whole, (column) => column.notNull().defaultTo(0))
    .execute();
  await db.schema
    .createTable("iam_password_reset_links")
    .addColumn("account_id", text, (column) => column.primaryKey())
    .addColumn("token_hash", text, (column) => column.notNull().unique())
    .addColumn("create_time", whole, (column) => column.notNull())
    .addColumn("expire_time", whole, (column) => column.notNull())
    .addColumn("used_time", whole)
    .execute();
}

/** Adds who made a link. Those without it no longer work: whether their makers still may is not known. */
// biome-ignore lint/suspicious/noExplicitAny: a migration changes the tables that a type would name
export async function addResetLinkMaker(db: Kysely<any>, { text }: ColumnTypes): Promise<void> {
  for (const column of ["maker_type", "maker_id"]) {
    await db.schema.alterTable("iam_password_reset_links").addColumn(column, text).execute();
  }
}
