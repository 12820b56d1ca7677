import type { AccountTable } from "./account-row.ts";

/**
 * Locks an account until the transaction ends: others that lock it wait.
 *
 * @returns undefined where there is no such account
 */
export async function lockAccount(
  database: AccountTable,
  id: string,
): Promise<{ readonly isEnabled: boolean } | undefined> {
  const row = await database
    .updateTable("iam_users")
    // It locks the row, in both kinds of databases.
    .set((one) => ({ etag: one.ref("etag") }))
    .where("id", "=", id)
    .where("deleted_time", "is", null)
    .returning("disabled")
    .executeTakeFirst();
  return row && { isEnabled: Number(row.disabled) === 0 };
}
