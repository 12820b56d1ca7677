import type { ServiceDatabase } from "svc-access/database";
import { StartUpError } from "svc-access/runtime";
import type { IamTables } from "../../ground/store/tables.ts";

/** How many organizations a message names. */
const NAMED = 3;

/**
 * Refuses to start with the users of another organization: a replica whose configuration names another one would take
 * them for its own, and refuse their calls.
 *
 * @param organization `iam.organization`
 * @throws StartUpError if the database has users, and knows other organizations but not this one
 */
export async function refuseOtherOrganization(
  { kysely }: ServiceDatabase<IamTables>,
  organization: string,
): Promise<void> {
  const own = await kysely
    .selectFrom("iam_organizations")
    .select("id")
    .where("id", "=", organization)
    .executeTakeFirst();
  if (own !== undefined) return;
  const others = await kysely
    .selectFrom("iam_organizations")
    .select("id")
    .orderBy("create_time")
    .limit(NAMED)
    .execute();
  if (others.length === 0) return;
  const user = await kysely.selectFrom("iam_users").select("id").limit(1).executeTakeFirst();
  if (user === undefined) return;
  const known = others.map(({ id }) => id).join(", ");
  throw new StartUpError([
    `iam.organization is ${organization}, and the users of this database belong to another organization: write that one (the first that it knows: ${known}), or name another database`,
  ]);
}
