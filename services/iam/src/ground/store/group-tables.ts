import { type ColumnTypes, type Kysely, sql } from "svc-access/database";

/**
 * How far a record is that another store has a part of: `creating` until its relationships are stored;
 * `deleting` from the request to delete it until the first of them are gone, which decides it;
 * `removing` until all of them are.
 */
export type RecordState = "creating" | "ready" | "deleting" | "removing";

/** The record of a group. Its zone, parent, owners and members are relationships. */
export interface GroupsTable {
  /** Random, and never used again. */
  readonly id: string;
  /** Whose zone it belongs to; it never changes. */
  readonly organization_id: string;
  readonly display_name: string;
  readonly etag: string;
  /** Only a group that is `ready` is seen. */
  readonly state: RecordState;
  /** When it got its state: milliseconds since the epoch by the clock of the database, as all times. */
  readonly state_time: number;
  readonly create_time: number;
  readonly update_time: number;
}

/** The table of the groups. */
export interface GroupTables {
  readonly iam_groups: GroupsTable;
}

/** What groups need in PostgreSQL. */
export const GROUP_RIGHTS = {
  iam_groups: ["select", "insert", "update", "delete"],
} as const;

/** Creates the table of `GroupTables`. */
// biome-ignore lint/suspicious/noExplicitAny: a migration creates the tables that a type would name
export async function createGroupTables(db: Kysely<any>, types: ColumnTypes): Promise<void> {
  const { text, whole } = types;
  await db.schema
    .createTable("iam_groups")
    .addColumn("id", text, (column) => column.primaryKey())
    .addColumn("organization_id", text, (column) => column.notNull())
    .addColumn("display_name", text, (column) => column.notNull())
    .addColumn("etag", text, (column) => column.notNull())
    .addColumn("state", text, (column) => column.notNull())
    .addColumn("state_time", whole, (column) => column.notNull())
    .addColumn("create_time", whole, (column) => column.notNull())
    .addColumn("update_time", whole, (column) => column.notNull())
    .execute();
  await db.schema
    .createIndex("iam_groups_by_organization")
    .on("iam_groups")
    .columns(["organization_id", "id"])
    .execute();
  await db.schema
    .createIndex("iam_groups_by_state")
    .on("iam_groups")
    .columns(["state_time"])
    .where(sql`state`, "!=", "ready")
    .execute();
}
