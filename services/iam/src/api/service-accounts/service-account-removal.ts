import type { RemovalKind } from "../../ground/removals/removal-kind.ts";
import { removeKeys } from "../../people/accounts/service-accounts/service-account-keys.ts";

/** The name of the removal of service accounts. */
export const SERVICE_ACCOUNT_REMOVAL = "service_account";

/** How service accounts are deleted. */
export const serviceAccountRemoval: RemovalKind = {
  name: SERVICE_ACCOUNT_REMOVAL,
  objectType: "service_account",
  async deleteRecord(tx, id) {
    await removeKeys(tx.$pickTables<"iam_service_account_keys">(), id);
    await tx
      .deleteFrom("iam_service_accounts")
      .where("id", "=", id)
      .where("deleted_time", "is not", null)
      .execute();
  },
};
