import type { ServiceDatabase } from "svc-access/database";
import { BatchedReads } from "../accounts/batched-reads.ts";
import type { LocalAccounts } from "../accounts/local-accounts.ts";
import type { UserTables } from "../store/user-tables.ts";
import type { Profile } from "./profiles.ts";

type Find = (id: string) => Promise<Profile | undefined>;

/** The profiles of the local users, which are a part of their accounts: each page of a console reads one. */
export class LocalProfiles {
  /** Undefined where there is no local user with the id. */
  readonly find: Find;

  constructor(database: ServiceDatabase<UserTables>, accounts: LocalAccounts) {
    // SQLite is in this process: a read takes less time than to wait for others. PostgreSQL is asked once for all.
    this.find = database.kind === "sqlite" ? oneByOne(database) : together(accounts);
  }
}

function oneByOne(database: ServiceDatabase<UserTables>): Find {
  const byId = database.prepareRead((kysely, values: { readonly id: string }) =>
    kysely
      .selectFrom("iam_users")
      .select(["display_name", "avatar_url", "etag"])
      .where("id", "=", values.id)
      .where("deleted_time", "is", null),
  );
  return async (id) => {
    const row = await byId.first({ id });
    if (row === undefined) return undefined;
    return { name: row.display_name, avatarUrl: row.avatar_url, etag: row.etag };
  };
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
