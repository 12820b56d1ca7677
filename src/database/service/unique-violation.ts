import { isFailure } from "../statement-failure.ts";

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
  return isFailure("uniqueViolation", error);
}
