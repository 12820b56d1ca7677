import { type RawBuilder, sql } from "kysely";

/** The kinds of databases. */
export type DatabaseKind = "sqlite" | "postgres";

/** The column types of a kind of database: text that is compared by its bytes, and whole numbers of 64 bits. */
export function columnTypes(kind: DatabaseKind): {
  readonly text: RawBuilder<unknown>;
  readonly whole: "integer" | "bigint";
} {
  if (kind === "sqlite") return { text: sql`text`, whole: "integer" };
  return { text: sql`text collate "C"`, whole: "bigint" };
}
