import type { ColumnTypes, Generated, Kysely } from "svc-access/database";
import type { UserOrganizationTables } from "./user-organization-tables.ts";

/** Times are milliseconds since the epoch, which PostgreSQL returns as text. */
type Time = number;

/** The tables of local users and of those who log in. */
export interface UserTables extends UserOrganizationTables {
  readonly iam_users: {
    readonly id: string;
    readonly username: string;
    /** The user name as it is compared: unique. */
    readonly username_key: string;
    readonly display_name: string;
    readonly email: string;
    /** The display name and the e-mail address as users are searched by them. */
    readonly display_key: Generated<string>;
    readonly email_key: Generated<string>;
    readonly avatar_url: string;
    /** In the PHC string format; null where the user has no password. */
    readonly password_hash: string | null;
    /** Counts the changes of the password, and how often all logins were ended: one that began before does not count. */
    readonly password_version: Generated<number>;
    /** How many codes of second factors were wrong, one after the other. */
    readonly factor_failures: Generated<number>;
    /** 0 or 1. */
    readonly disabled: number;
    readonly etag: string;
    readonly create_time: Time;
    readonly update_time: Time;
    /** From then on nobody sees the user; the row goes when its relationships have gone. */
    readonly deleted_time: Time | null;
  };
  /** What people set of their own profile whose account is another provider's. */
  readonly iam_profiles: {
    readonly subject: string;
    readonly name: string;
    readonly avatar_url: string;
    readonly etag: string;
    readonly update_time: Time;
  };
  readonly iam_preferences: {
    readonly subject: string;
    /** JSON. */
    readonly document: string;
    readonly etag: string;
    readonly update_time: Time;
  };
  readonly iam_throttles: {
    readonly key: string;
    readonly failures: Generated<number>;
    readonly blocked_until: Generated<Time>;
    readonly update_time: Time;
  };
}

/** What users need in PostgreSQL. */
export const USER_RIGHTS = {
  iam_users: ["select", "insert", "update", "delete"],
  iam_profiles: ["select", "insert", "update", "delete"],
  iam_preferences: ["select", "insert", "update", "delete"],
  iam_throttles: ["select", "insert", "update", "delete"],
} as const;

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
