import type { ServiceDatabase } from "svc-access/database";
import { StartUpError } from "svc-access/runtime";
import type { RemovalTables } from "../../ground/store/removal-tables.ts";
import type { ServiceAccountTables } from "../../ground/store/service-account-tables.ts";
import type { UserTables } from "../../ground/store/user-tables.ts";

/** A client as the configuration has it. */
export interface ConfiguredClient {
  /** UUID. */
  readonly id: string;
  /** Its key in the configuration, for messages. */
  readonly key: string;
}

type Tables = UserTables & ServiceAccountTables & RemovalTables;

/**
 * Refuses clients with the ids of users and of service accounts that were created, also of those that
 * were deleted: relations and audit events of the one would seem to be of the other.
 *
 * @throws StartUpError with all of them
 */
export async function refuseTakenIds(
  clients: readonly ConfiguredClient[],
  database: Pick<ServiceDatabase<Tables>, "kysely">,
): Promise<void> {
  const ids = clients.map(({ id }) => id.toLowerCase());
  const taken = new Map((await takenIds(ids, database)).map(({ id, type }) => [id, type] as const));
  const problems = clients.flatMap(({ id, key }) => {
    const type = taken.get(id.toLowerCase());
    if (type === undefined) return [];
    const whose = type === "user" ? "a user" : "a service account";
    return [`${key} is the id of ${whose}, ${id}: choose another UUID`];
  });
  if (problems.length > 0) throw new StartUpError(problems);
}

async function takenIds(
  ids: readonly string[],
  { kysely }: Pick<ServiceDatabase<Tables>, "kysely">,
): Promise<readonly { readonly id: string; readonly type: string }[]> {
  const [users, accounts, former] = await Promise.all([
    kysely.selectFrom("iam_users").select("id").where("id", "in", ids).execute(),
    kysely.selectFrom("iam_service_accounts").select("id").where("id", "in", ids).execute(),
    kysely
      .selectFrom("iam_former_ids")
      .select(["id", "type"])
      .where("type", "in", ["user", "service_account"])
      .where("id", "in", ids)
      .execute(),
  ]);
  return [
    ...users.map(({ id }) => ({ id, type: "user" })),
    ...accounts.map(({ id }) => ({ id, type: "service_account" })),
    ...former,
  ];
}
