import type { ColumnTypes, Kysely } from "svc-access/database";

/**
 * An object whose record is marked deleted, as former versions recorded it; the table of the runtime has
 * those of this version.
 */
export interface RemovalsTable {
  /** Which part of the service deletes it. */
  readonly kind: string;
  /** The id of the object in the authorization model. */
  readonly id: string;
  /** Milliseconds since the epoch, as all times, by the clock of the database. */
  readonly create_time: number;
  /** When it is looked at next. */
  readonly due_time: number;
  /** When no relationship was left; null before. */
  readonly empty_time: number | null;
  /** How often in a row it has failed. */
  readonly failures: number;
}

/** The id of an object that was deleted: it is never used again. */
export interface FormerIdsTable {
  /** The type of the object in the authorization model. */
  readonly type: string;
  readonly id: string;
  readonly deleted_time: number;
}

/** The tables of deletion. */
export interface RemovalTables {
  readonly iam_removals: RemovalsTable;
  readonly iam_former_ids: FormerIdsTable;
}

/** What deletion needs in PostgreSQL. */
export const REMOVAL_RIGHTS = {
  iam_removals: ["select", "insert", "update", "delete"],
  iam_former_ids: ["select", "insert"],
} as const;

/** Creates the tables of deletion. */
// biome-ignore lint/suspicious/noExplicitAny: a migration creates the tables that a type would name
export async function createRemovalTables(db: Kysely<any>, types: ColumnTypes): Promise<void> {
  const { text, whole } = types;
  await db.schema
    .createTable("iam_removals")
    .addColumn("kind", text, (column) => column.notNull())
    .addColumn("id", text, (column) => column.notNull())
    .addColumn("create_time", whole, (column) => column.notNull())
    .addColumn("due_time", whole, (column) => column.notNull())
    .addColumn("empty_time", whole)
    .addColumn("failures", whole, (column) => column.notNull())
    .addPrimaryKeyConstraint("iam_removals_key", ["kind", "id"])
    .execute();
  await db.schema
    .createIndex("iam_removals_due_time")
    .on("iam_removals")
    .column("due_time")
    .execute();
  await db.schema
    .createTable("iam_former_ids")
    .addColumn("type", text, (column) => column.notNull())
    .addColumn("id", text, (column) => column.notNull())
    .addColumn("deleted_time", whole, (column) => column.notNull())
    .addPrimaryKeyConstraint("iam_former_ids_key", ["type", "id"])
    .execute();
}
