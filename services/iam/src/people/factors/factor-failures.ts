import type { AccountTable } from "../accounts/account-row.ts";

/**
 * How many codes of the apps of an account may be wrong, one after the other (NIST SP 800-63B): more are
 * refused, also right ones, until a recovery code or a passkey is right, the password is another one, or all factors are removed. A
 * code of six digits is guessed in time otherwise, however slowly.
 */
export const MOST_FAILURES = 100;

/**
 * Counts a code as wrong, before it is looked at: of many at once, no more are looked at than may be.
 *
 * @returns false if it must not be looked at
 */
export async function countFailure(database: AccountTable, accountId: string): Promise<boolean> {
  const { numUpdatedRows } = await database
    .updateTable("iam_users")
    .set((row) => ({ factor_failures: row("factor_failures", "+", 1) }))
    .where("id", "=", accountId)
    .where("factor_failures", "<", MOST_FAILURES)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Whether no code of an app of an account is looked at any more. */
export async function areAppsRefused(database: AccountTable, accountId: string): Promise<boolean> {
  const row = await database
    .selectFrom("iam_users")
    .select("factor_failures")
    .where("id", "=", accountId)
    .executeTakeFirst();
  return Number(row?.factor_failures ?? MOST_FAILURES) >= MOST_FAILURES;
}

/** The next wrong code is the first one again: the owner has shown who they are. */
export async function forgetFailures(database: AccountTable, accountId: string): Promise<void> {
  await database
    .updateTable("iam_users")
    .set({ factor_failures: 0 })
    .where("id", "=", accountId)
    .where("factor_failures", ">", 0)
    .execute();
}
