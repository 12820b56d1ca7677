import type { AccountTable } from "./account-row.ts";

/**
 * Ends the logins of an account that are under way, wherever they have come to: each needs the version of
 * the password with which it began.
 */
export async function endLogins(database: AccountTable, id: string): Promise<void> {
  await database
    .updateTable("iam_users")
    .set((row) => ({ password_version: row("password_version", "+", 1) }))
    .where("id", "=", id)
    .execute();
}
