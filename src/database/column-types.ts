import { type RawBuilder, sql } from "kysely";
import type { DatabaseKind } from "./database.ts";

/** Column types that differ between the kinds of databases. */
export interface ColumnTypes {
  /** Text that is compared by its bytes. */
  readonly text: RawBuilder<unknown>;
  /** Whole numbers of 64 bits. */
  readonly whole: "integer" | "bigint";
}

/** The types of columns of each kind of database. */
export const COLUMN_TYPES: Readonly<Record<DatabaseKind, ColumnTypes>> = {
  sqlite: { text: sql`text`, whole: "integer" },
  // Comparing bytes is faster than collation by a language, and the same on every server.
  postgres: { text: sql`text collate "C"`, whole: "bigint" },
};
