import { type RawBuilder, sql } from "kysely";
import type { DatabaseKind } from "./database.ts";
import { DatabaseError } from "./database-error.ts";
import { isFailure } from "./statement-failure.ts";

/** The version of the tables of a part of a program, for messages. */
export interface TableVersion {
  /** The name of the database, such as `the store relationships.db`. */
  readonly name: string;
  /** The part of the program, such as `audit`. */
  readonly component: string;
  /** The version in the database; 0 if it has no tables. */
  readonly made: number;
  /** The version that this program makes and knows. */
  readonly known: number;
  /** What makes the tables as their owner, for messages; `svc-access database migrate` if absent. */
  readonly program?: string | undefined;
}

/**
 * Reads the version of tables, which is 0 if they do not exist.
 * It needs only the privilege to read the version, and no lock.
 */
export async function readVersion(
  query: () => Promise<{ readonly version: number | string | null }>,
): Promise<number> {
  try {
    return Number((await query()).version ?? 0);
  } catch (error) {
    if (isFailure("tableMissing", error)) return 0;
    throw error;
  }
}

/**
 * Whether tables must be created or changed.
 *
 * @throws DatabaseError FAILED_PRECONDITION if a newer program made them, since the meaning of its tables is unknown here
 */
export function isOutdated({ name, component, made, known }: TableVersion): boolean {
  if (made <= known) return made < known;
  throw new DatabaseError(
    "FAILED_PRECONDITION",
    `${name} has version ${made} of the ${component} tables and this program knows ${known}: use the newer program that made them, or restore the backup from before it`,
  );
}

/** What a migration did: it made the first tables, changed existing ones, or found those of this version. */
export type TableChange = "created" | "migrated" | "unchanged";

/** What a migration from a version does. */
export function changeFrom({ made, known }: Pick<TableVersion, "made" | "known">): TableChange {
  if (made >= known) return "unchanged";
  return made === 0 ? "created" : "migrated";
}

/** What the migrations of all parts of a database did: it is `created` only if no part had tables. */
export function joinChanges(changes: readonly TableChange[]): TableChange {
  const [first = "unchanged"] = changes;
  return changes.every((change) => change === first) ? first : "migrated";
}

/** Explains a migration that failed because the user of the connection may not create tables. */
export function explainMigration(
  error: unknown,
  { name, component, made, known, program = "svc-access database migrate" }: TableVersion,
): unknown {
  // A database explains errors itself, with the one of the server as the cause.
  const thrown = error instanceof DatabaseError ? error.cause : error;
  if (!isFailure("rightMissing", thrown)) return error;
  const { message } = thrown as Error;
  const has = made === 0 ? "no" : `version ${made} of the`;
  return new DatabaseError(
    "FAILED_PRECONDITION",
    `${name} has ${has} ${component} tables, this program needs version ${known}, and its user may not create them (${message}): run ${program} as their owner first`,
    { cause: error },
  );
}

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
