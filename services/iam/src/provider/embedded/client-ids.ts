import type { ServiceDatabase } from "svc-access/database";
import { StartUpError } from "svc-access/runtime";
import type { RemovalTables } from "../../store/removal-tables.ts";
import type { UserTables } from "../../store/user-tables.ts";

/** A client as the configuration has it. */
export interface ConfiguredClient {
  /** UUID. */
  readonly id: string;
  /** Its key in the configuration, for messages. */
  readonly key: string;
}

/**
 * Refuses clients with the ids of users, also of those who were deleted: relations and audit events of
 * the one would seem to be of the other.
 *
 * @throws StartUpError with all of them
 */
export async function refuseIdsOfUsers(
  clients: readonly ConfiguredClient[],
  { kysely }: ServiceDatabase<UserTables & RemovalTables>,
): Promise<void> {
  const ids = clients.map(({ id }) => id.toLowerCase());
  const rows = await kysely
    .selectFrom("iam_users")
    .select("id")
    .where("id", "in", ids)
    .union((db) =>
      db
        .selectFrom("iam_former_ids")
        .select("id")
        .where("type", "=", "user")
        .where("id", "in", ids),
    )
    .execute();
  const taken = new Set(rows.map(({ id }) => id));
  const problems = clients
    .filter(({ id }) => taken.has(id.toLowerCase()))
    .map(({ id, key }) => `${key} is the id of a user, ${id}: choose another UUID`);
  if (problems.length > 0) throw new StartUpError(problems);
}
