import type { Kysely } from "kysely";
import type { DatabaseKind } from "../../database/database.ts";
import type { MigrationSet } from "../../database/service/migrate.ts";
import { COLUMN_TYPES } from "../../database/tables.ts";

/** The table of what is removed. Times are milliseconds since the epoch, by the clock of the database. */
export interface RemovalTables {
  readonly pending_removals: {
    /** The name of a `RemovalKind`. */
    readonly kind: string;
    /** The id of the object in the authorization model. */
    readonly id: string;
    /** When its removal began, or its creation. */
    readonly create_time: number;
    /** When it is looked at next. */
    readonly due_time: number;
    /** 1 while it is being created, and is removed only if that is not completed in time; else 0. */
    readonly creating: number;
    /** When no relationship was left; null before. */
    readonly empty_time: number | null;
    /** How often in a row it has failed. */
    readonly failures: number;
  };
}

/** The steps to the table of this version. */
export const REMOVAL_MIGRATIONS: MigrationSet = {
  component: "removals",
  steps: [createRemovals],
  rights: { pending_removals: ["select", "insert", "update", "delete"] },
};

// biome-ignore lint/suspicious/noExplicitAny: it makes the table that a type would name
async function createRemovals({ schema }: Kysely<any>, kind: DatabaseKind): Promise<void> {
  const { text, whole } = COLUMN_TYPES[kind];
  await schema
    .createTable("pending_removals")
    .addColumn("kind", text, (column) => column.notNull())
    .addColumn("id", text, (column) => column.notNull())
    .addColumn("create_time", whole, (column) => column.notNull())
    .addColumn("due_time", whole, (column) => column.notNull())
    .addColumn("creating", "integer", (column) => column.notNull())
    .addColumn("empty_time", whole)
    .addColumn("failures", whole, (column) => column.notNull())
    .addPrimaryKeyConstraint("pending_removals_key", ["kind", "id"])
    .execute();
  await schema
    .createIndex("pending_removals_due_time")
    .on("pending_removals")
    .column("due_time")
    .execute();
}
