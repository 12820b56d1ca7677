import type { Kysely } from "svc-access/database";
import type { SessionTables } from "../../ground/store/session-tables.ts";
import type { UserTables } from "../../ground/store/user-tables.ts";
import { holdPassword } from "../accounts/hold-password.ts";
import { lockAccount } from "../accounts/lock-account.ts";

/** Who changes the factors of an account: somebody who is logged in, or who has entered its password. */
export type FactorOwner = { readonly accountId: string } & (
  | { readonly sessionId: string }
  | { readonly passwordVersion: number }
);

type OwnerDatabase = Kysely<Pick<UserTables, "iam_users"> & Pick<SessionTables, "iam_sessions">>;

/**
 * Whether an owner still counts: the account is enabled, and its session has not ended or its password was not changed.
 * It remains so until the transaction ends. Otherwise a request that began before would leave a factor, by which
 * somebody comes back whose sessions were ended.
 */
export async function lockOwner(database: OwnerDatabase, owner: FactorOwner): Promise<boolean> {
  const { accountId } = owner;
  const users = database.$pickTables<"iam_users">();
  if ("passwordVersion" in owner) return holdPassword(users, accountId, owner.passwordVersion);
  const account = await lockAccount(users, accountId);
  if (account?.isEnabled !== true) return false;
  const session = await database
    .updateTable("iam_sessions")
    // It locks the row: the end of the session waits.
    .set((row) => ({ ended_time: row.ref("ended_time") }))
    .where("id", "=", owner.sessionId)
    .where("account_id", "=", accountId)
    .where("ended_time", "is", null)
    .executeTakeFirst();
  return session.numUpdatedRows > 0n;
}
