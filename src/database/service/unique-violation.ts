/** The codes of SQLite for a unique index, a primary key, and a row id. */
const SQLITE_CODES: ReadonlySet<unknown> = new Set([2067, 1555, 2579]);
const POSTGRES_CODE = "23505";

/**
 * Whether a statement failed since a row with the same key exists, in SQLite or PostgreSQL.
 *
 * In PostgreSQL the error ends the transaction that the statement is part of, so in one, prevent it
 * with `onConflict((conflict) => conflict.doNothing())`.
 *
 * @param error - what the statement threw
 *
 * @example
 * ```ts
 * try {
 *   await database.kysely.insertInto("topics").values({ id: "1", name: "a" }).execute();
 * } catch (error) {
 *   if (isUniqueViolation(error)) throw new ServiceError("ALREADY_EXISTS", "there is such a topic");
 *   throw error;
 * }
 * ```
 */
export function isUniqueViolation(error: unknown): boolean {
  const { code, errcode } = (error ?? {}) as { code?: unknown; errcode?: unknown };
  return code === POSTGRES_CODE || (code === "ERR_SQLITE_ERROR" && SQLITE_CODES.has(errcode));
}
