import type { PreparedRead, ServiceDatabase } from "svc-access/database";
import type { UserTables } from "../../ground/store/user-tables.ts";
import { type AccountColumns, accountOf, type LocalAccount } from "./account-row.ts";

/** Which page is read. */
interface PageValues {
  readonly after: string;
  readonly limit: number;
}

/** The local users, by user name, a page at a time: the query is compiled once. */
export class UserPages {
  readonly #page: PreparedRead<PageValues, AccountColumns>;
  readonly #organization: string;

  /** @param organization `iam.organization`, which all of them belong to */
  constructor(database: ServiceDatabase<UserTables>, organization: string) {
    this.#organization = organization;
    this.#page = database.prepareRead((kysely, values: PageValues) =>
      kysely
        .selectFrom("iam_users")
        .select(["id", "username", "display_name", "email", "avatar_url"])
        .select(["disabled", "etag", "create_time", "update_time"])
        .where("username_key", ">", values.after)
        .where("deleted_time", "is", null)
        .orderBy("username_key")
        .limit(values.limit),
    );
  }

  /**
   * Accounts in the order of their normalized user names.
   *
   * @param after the normalized user name after which they begin; empty: the first
   */
  async list(after: string, limit: number): Promise<readonly LocalAccount[]> {
    const rows = await this.#page.all({ after, limit });
    return rows.map((row) => accountOf(row, this.#organization));
  }
}
