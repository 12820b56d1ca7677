import type { ColumnTypes, Kysely } from "svc-access/database";

/** Makes the tables of `UserTables`. */
// biome-ignore lint/suspicious/noExplicitAny: a migration creates the tables that a type would name
export async function createUserTables(database: Kysely<any>, types: ColumnTypes): Promise<void> {
  const { text, whole } = types;
  const { schema } = database;
  await schema
    .createTable("iam_users")
    .addColumn("id", text, (column) => column.primaryKey())
    .addColumn("username", text, (column) => column.notNull())
    .addColumn("username_key", text, (column) => column.notNull().unique())
    .addColumn("display_name", text, (column) => column.notNull())
    .addColumn("email", text, (column) => column.notNull())
    .addColumn("avatar_url", text, (column) => column.notNull())
    .addColumn("password_hash", text)
    .addColumn("disabled", whole, (column) => column.notNull())
    .addColumn("etag", text, (column) => column.notNull())
    .addColumn("create_time", whole, (column) => column.notNull())
    .addColumn("update_time", whole, (column) => column.notNull())
    .addColumn("deleted_time", whole)
    .execute();
  await schema
    .createTable("iam_profiles")
    .addColumn("subject", text, (column) => column.primaryKey())
    .addColumn("name", text, (column) => column.notNull())
    .addColumn("avatar_url", text, (column) => column.notNull())
    .addColumn("etag", text, (column) => column.notNull())
    .addColumn("update_time", whole, (column) => column.notNull())
    .execute();
  await schema
    .createTable("iam_preferences")
    .addColumn("subject", text, (column) => column.primaryKey())
    .addColumn("document", text, (column) => column.notNull())
    .addColumn("etag", text, (column) => column.notNull())
    .addColumn("update_time", whole, (column) => column.notNull())
    .execute();
  await schema
    .createTable("iam_throttles")
    .addColumn("key", text, (column) => column.primaryKey())
    .addColumn("failures", whole, (column) => column.notNull())
    .addColumn("blocked_until", whole, (column) => column.notNull())
    .addColumn("update_time", whole, (column) => column.notNull())
    .execute();
  await schema
    .createIndex("iam_throttles_by_time")
    .on("iam_throttles")
    .column("update_time")
    .execute();
}
