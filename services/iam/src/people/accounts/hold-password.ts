import type { AccountTable } from "./account-row.ts";

/**
 * Whether an account is enabled, and its password still has a version. Both stay so until the transaction
 * ends: a change waits.
 *
 * @param version undefined: whichever it has
 */
export async function holdPassword(
  database: AccountTable,
  id: string,
  version?: number,
): Promise<boolean> {
  let query = database
    .updateTable("iam_users")
    // It locks the row, in both kinds of databases.
    .set((row) => ({ password_version: row.ref("password_version") }))
    .where("id", "=", id)
    .where("disabled", "=", 0)
    .where("deleted_time", "is", null);
  if (version !== undefined) query = query.where("password_version", "=", version);
  return (await query.executeTakeFirst()).numUpdatedRows > 0n;
}
