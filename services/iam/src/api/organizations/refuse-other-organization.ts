import type { ServiceDatabase, Transaction } from "svc-access/database";
import { StartUpError } from "svc-access/runtime";
import type { IamTables } from "../../ground/store/tables.ts";

type Tables = Transaction<IamTables>;

/**
 * Refuses to start with the users of another organization: a replica whose configuration names another one would take
 * them for its own, and refuse their calls. A start stores whose they are, as long as there is nobody. A user whose
 * deletion is under way is somebody: what the authorization engine still has of them belongs to their organization.
 *
 * @param organization `iam.organization`
 * @throws StartUpError if the users belong to another one
 */
export async function refuseOtherOrganization(
  database: ServiceDatabase<IamTables>,
  organization: string,
): Promise<void> {
  await database.inTransaction(async (tx) => {
    const other = (await isFirstStart(tx, organization))
      ? await otherOfBefore(tx, organization)
      : await otherOf(tx, organization);
    if (other === undefined) return;
    throw new StartUpError([
      `iam.organization is ${organization}, and the users of this database belong to ${other}: write that one, or name another database`,
    ]);
  });
}

/** Whether the database did not say yet whose the users are; now it does. */
async function isFirstStart(tx: Tables, organization: string): Promise<boolean> {
  const { numInsertedOrUpdatedRows = 0n } = await tx
    .insertInto("iam_user_organization")
    .values({ slot: 1, organization })
    .onConflict((conflict) => conflict.column("slot").doNothing())
    .executeTakeFirst();
  return numInsertedOrUpdatedRows > 0n;
}

/** Whose the users are, if they are not those of an organization; stored for it while there is nobody. */
async function otherOf(tx: Tables, organization: string): Promise<string | undefined> {
  // It locks the row: from here on whoever makes a user waits, and the users of those before are visible.
  const stored = await tx
    .updateTable("iam_user_organization")
    .set((row) => ({ organization: row.ref("organization") }))
    .returning("organization")
    .executeTakeFirstOrThrow();
  if (stored.organization === organization) return undefined;
  if (await hasUser(tx)) return stored.organization;
  await tx.updateTable("iam_user_organization").set({ organization }).execute();
  return undefined;
}

/**
 * Likewise in a database of before that was stored, with users: the oldest organization that it knows, if it does not
 * know the configured one.
 */
async function otherOfBefore(tx: Tables, organization: string): Promise<string | undefined> {
  if (!(await hasUser(tx))) return undefined;
  const organizations = tx.selectFrom("iam_organizations").select("id");
  const own = await organizations.where("id", "=", organization).executeTakeFirst();
  if (own !== undefined) return undefined;
  return (await organizations.orderBy("create_time").limit(1).executeTakeFirst())?.id;
}

async function hasUser(tx: Tables): Promise<boolean> {
  const user = await tx.selectFrom("iam_users").select("id").limit(1).executeTakeFirst();
  return user !== undefined;
}
