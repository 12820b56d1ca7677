import { IS_SHARED, type ServiceDatabase } from "svc-access/database";
import type { UserTables } from "../../ground/store/user-tables.ts";
import { BatchedReads } from "../../people/accounts/batched-reads.ts";
import type { LocalAccounts } from "../../people/accounts/local-accounts.ts";
import type { Profile } from "./profiles.ts";

type Find = (id: string) => Promise<Profile | undefined>;

/** The profiles of the local users, which are a part of their accounts: each page of a console reads one. */
export class LocalProfiles {
  /** Undefined where there is no local user with the id. */
  readonly find: Find;

  constructor(database: ServiceDatabase<UserTables>, accounts: LocalAccounts) {
    // SQLite is in this process: a read takes less time than to wait for others. PostgreSQL is asked once for all.
    this.find = IS_SHARED[database.kind] ? together(accounts) : oneByOne(database);
  }
}

function oneByOne(database: ServiceDatabase<UserTables>): Find {
  const byId = database.prepareRead((kysely, values: { readonly id: string }) =>
    kysely
      .selectFrom("iam_users")
      .select(["display_name as name", "avatar_url as avatarUrl", "etag"])
      .where("id", "=", values.id)
      .where("deleted_time", "is", null),
  );
  return (id) => byId.first({ id });
}

function together(accounts: LocalAccounts): Find {
  const reads = new BatchedReads((ids) => accounts.findAll(ids));
  return async (id) => {
    const account = await reads.find(id);
    if (account === undefined) return undefined;
    const { displayName: name, avatarUrl, etag } = account;
    return { name, avatarUrl, etag };
  };
}
