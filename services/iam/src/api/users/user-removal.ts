import type { RemovalKind } from "../../ground/removals/removal-kind.ts";

/** The name of the removal of users. */
export const USER_REMOVAL = "user";

/** How users are deleted: with what only their id leads to. */
export const userRemoval: RemovalKind = {
  name: USER_REMOVAL,
  objectType: "user",
  async deleteRecord(tx, id) {
    const subject = `user:${id}`;
    await tx.deleteFrom("iam_preferences").where("subject", "=", subject).execute();
    await tx.deleteFrom("iam_profiles").where("subject", "=", subject).execute();
    await tx.deleteFrom("iam_second_factors").where("account_id", "=", id).execute();
    await tx.deleteFrom("iam_recovery_codes").where("account_id", "=", id).execute();
    await tx.deleteFrom("iam_password_reset_links").where("account_id", "=", id).execute();
    await tx
      .deleteFrom("iam_users")
      .where("id", "=", id)
      .where("deleted_time", "is not", null)
      .execute();
  },
};
