import { type RawBuilder, sql } from "kysely";
import type { DatabaseKind } from "./database.ts";

/** The types of columns, where they differ from one kind of database to the other. */
export interface ColumnTypes {
  /** Text that is compared by its bytes. */
  readonly text: RawBuilder<unknown>;
  /** Whole numbers of 64 bits. */
  readonly whole: "integer" | "bigint";
}

/** The types of columns of each kind of database. */
export const COLUMN_TYPES: Readonly<Record<DatabaseKind, ColumnTypes>> = {
  sqlite: { text: sql`text`, whole: "integer" },
  // Bytes compare faster than a language's order, and alike on every server.
  postgres: { text: sql`text collate "C"`, whole: "bigint" },
};
