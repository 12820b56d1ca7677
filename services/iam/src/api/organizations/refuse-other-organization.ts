import type { ServiceDatabase } from "svc-access/database";
import { StartUpError } from "svc-access/runtime";
import type { IamTables } from "../../ground/store/tables.ts";

/**
 * Refuses to start with the users of another organization: a replica whose configuration names another one would take
 * them for its own, and refuse their calls. A start stores whose they are, as long as there is nobody.
 *
 * @param organization `iam.organization`
 * @throws StartUpError if the users belong to another one
 */
export async function refuseOtherOrganization(
  database: ServiceDatabase<IamTables>,
  organization: string,
): Promise<void> {
  const other =
    (await otherOfBefore(database, organization)) ?? (await otherOf(database, organization));
  if (other === undefined) return;
  throw new StartUpError([
    `iam.organization is ${organization}, and the users of this database belong to ${other}: write that one, or name another database`,
  ]);
}

/** Whose the users are, if they are not those of an organization; stored for it while there is nobody. */
async function otherOf(
  { kysely }: ServiceDatabase<IamTables>,
  organization: string,
): Promise<string | undefined> {
  const taken = kysely.selectFrom("iam_users").select("id").limit(1);
  await kysely
    .insertInto("iam_user_organization")
    .values({ slot: 1, organization })
    .onConflict((conflict) =>
      conflict
        .column("slot")
        .doUpdateSet({ organization })
        .where(({ not, exists }) => not(exists(taken))),
    )
    .execute();
  const stored = await kysely
    .selectFrom("iam_user_organization")
    .select("organization")
    .executeTakeFirstOrThrow();
  return stored.organization === organization ? undefined : stored.organization;
}

/**
 * Likewise in a database that does not say so yet, with users of before: the oldest organization that it knows, if it
 * does not know the configured one.
 */
async function otherOfBefore(
  { kysely }: ServiceDatabase<IamTables>,
  organization: string,
): Promise<string | undefined> {
  const stored = await kysely.selectFrom("iam_user_organization").select("slot").executeTakeFirst();
  if (stored !== undefined) return undefined;
  const user = await kysely.selectFrom("iam_users").select("id").limit(1).executeTakeFirst();
  if (user === undefined) return undefined;
  const organizations = kysely.selectFrom("iam_organizations").select("id");
  const own = await organizations.where("id", "=", organization).executeTakeFirst();
  if (own !== undefined) return undefined;
  return (await organizations.orderBy("create_time").limit(1).executeTakeFirst())?.id;
}
