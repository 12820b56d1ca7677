import { DatabaseError } from "./database-error.ts";

/** The tables of a part of a program, as messages speak of them. */
export interface TableVersion {
  /** Of the database, such as `the store relationships.db`. */
  readonly name: string;
  /** Whose tables, such as `audit`. */
  readonly component: string;
  /** What is in the database; 0 where nothing is. */
  readonly made: number;
  /** What this program makes and knows. */
  readonly known: number;
}

/**
 * Reads the version of tables, which is 0 where they were never made.
 * Whoever finds the one it needs asks for no right but to read it, and for no lock.
 */
export async function readVersion(
  query: () => Promise<{ readonly version: number | string | null }>,
): Promise<number> {
  try {
    return Number((await query()).version ?? 0);
  } catch (error) {
    if (isWithoutTable(error)) return 0;
    throw error;
  }
}

/**
 * Whether tables have still to be made or changed.
 *
 * @throws DatabaseError FAILED_PRECONDITION where a newer program made them: what its tables mean is not known here
 */
export function isOutdated({ name, component, made, known }: TableVersion): boolean {
  if (made <= known) return made < known;
  throw new DatabaseError(
    "FAILED_PRECONDITION",
    `${name} has version ${made} of the ${component} tables and this program knows ${known}: use the newer program that made them, or restore the backup from before it`,
  );
}

/** Says more of a migration that failed because the user of the connection may not make tables. */
export function explainMigration(
  error: unknown,
  { name, component, made, known }: TableVersion,
): unknown {
  const { code, message } = error as { code?: string; message?: string };
  if (code !== NO_RIGHT) return error;
  const has = made === 0 ? "no" : `version ${made} of the`;
  return new DatabaseError(
    "FAILED_PRECONDITION",
    `${name} has ${has} ${component} tables, this program needs version ${known}, and its user may not make them (${message}): run svc-access database migrate as their owner first`,
    { cause: error },
  );
}

const NO_RIGHT = "42501";

function isWithoutTable(error: unknown): boolean {
  const { code, message = "" } = error as { code?: string; message?: string };
  return code === "42P01" || (code === "ERR_SQLITE_ERROR" && message.startsWith("no such table"));
}
