import type { Transaction } from "svc-access/database";
import type { DocumentModel } from "../../ground/store/document-models.ts";
import type { ProviderTables } from "../../ground/store/provider-tables.ts";
import type { LoginSession } from "./login-session.ts";

const DEVICE_CODE = "DeviceCode" satisfies DocumentModel;

/** What ends a session. */
export interface SessionEnd {
  /**
   * Whether the codes of devices that were approved in it stay, until the devices have used them: what somebody has
   * logged in goes on when they log out of the browser.
   */
  readonly keepsCodes: boolean;
}

/** Deletes what was issued in a session, and the session of the provider itself. */
export async function removeSessionDocuments(
  tx: Transaction<ProviderTables>,
  sessionUid: string,
  grants: readonly string[],
  { keepsCodes }: SessionEnd,
): Promise<void> {
  const documents = () => tx.deleteFrom("iam_provider_documents");
  // Whoever uses a refresh token locks its grant first; in one order, so that none waits for each other.
  for (const grant of [...new Set(grants)].filter((one) => one !== "").sort()) {
    await documents().where("model", "=", "Grant").where("id", "=", grant).execute();
    await documents().where("grant_id", "=", grant).execute();
  }
  const issued = () => documents().where("session_uid", "=", sessionUid);
  await issued().where("model", "!=", DEVICE_CODE).execute();
  // One that was used is kept: its second use ends the login of the device, which is a session of its own.
  if (!keepsCodes) {
    await issued().where("model", "=", DEVICE_CODE).where("consumed_time", "is", null).execute();
  }
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
      .where((is) =>
        is.or([
          is("session_uid", "is", null),
          is("session_uid", "!=", except.id),
          // A device that was approved in it is another login.
          is("model", "=", DEVICE_CODE),
        ]),
      )
      .where((is) => is.or([is("uid", "is", null), is("uid", "!=", except.id)]));
  };
  // Whoever uses a refresh token locks its grant first.
  await documents().where("model", "=", "Grant").execute();
  await documents().execute();
}
