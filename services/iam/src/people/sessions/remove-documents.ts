import type { Transaction } from "svc-access/database";
import type { ProviderTables } from "../../ground/store/provider-tables.ts";
import type { LoginSession } from "./login-session.ts";

/** Deletes what was issued in a session, and the session of the provider itself. */
export async function removeSessionDocuments(
  tx: Transaction<ProviderTables>,
  sessionUid: string,
  grants: readonly string[],
): Promise<void> {
  const documents = () => tx.deleteFrom("iam_provider_documents");
  // Whoever uses a refresh token locks its grant first; in one order, so that none waits for each other.
  for (const grant of [...new Set(grants)].filter((one) => one !== "").sort()) {
    await documents().where("model", "=", "Grant").where("id", "=", grant).execute();
    await documents().where("grant_id", "=", grant).execute();
  }
  await documents().where("session_uid", "=", sessionUid).execute();
  await documents().where("model", "=", "Session").where("uid", "=", sessionUid).execute();
}

/**
 * Deletes all that was issued to an account, also what belongs to no session, such as the code of a
 * device that was approved and has not logged in yet.
 *
 * @param except a session that continues, with what was issued in it
 */
export async function removeAccountDocuments(
  tx: Transaction<ProviderTables>,
  accountId: string,
  except: LoginSession | undefined,
): Promise<void> {
  const documents = () => {
    const all = tx.deleteFrom("iam_provider_documents").where("account_id", "=", accountId);
    if (except === undefined) return all;
    // With an empty list it would not be SQL.
    const grants = ["", ...except.clients.map(({ grantId }) => grantId)];
    return all
      .where((is) => is.or([is("grant_id", "is", null), is("grant_id", "not in", grants)]))
      .where((is) => is.or([is("session_uid", "is", null), is("session_uid", "!=", except.id)]))
      .where((is) => is.or([is("uid", "is", null), is("uid", "!=", except.id)]));
  };
  // Whoever uses a refresh token locks its grant first.
  await documents().where("model", "=", "Grant").execute();
  await documents().execute();
}
