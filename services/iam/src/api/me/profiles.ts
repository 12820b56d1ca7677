import { randomUUID } from "node:crypto";
import type { Kysely } from "svc-access/database";
import type { UserTables } from "../../ground/store/user-tables.ts";

/** What people set of their own profile whose account is another provider's. */
export interface Profile {
  readonly name: string;
  readonly avatarUrl: string;
  readonly etag: string;
}

/** The profiles of people without a local account. */
export class ProfileStore {
  readonly #database: Kysely<UserTables>;
  readonly #now: () => number;

  /** @param now milliseconds since the epoch */
  constructor(database: Kysely<UserTables>, now: () => number = Date.now) {
    this.#database = database;
    this.#now = now;
  }

  /** Undefined where the subject has set nothing. */
  async find(subject: string): Promise<Profile | undefined> {
    const row = await this.#database
      .selectFrom("iam_profiles")
      .selectAll()
      .where("subject", "=", subject)
      .executeTakeFirst();
    if (row === undefined) return undefined;
    return { name: row.name, avatarUrl: row.avatar_url, etag: row.etag };
  }

  /**
   * Stores a profile in the place of the one that was read.
   *
   * @param former the etag of the one that was read; undefined where there was none
   * @returns undefined where it was changed since
   */
  async replace(
    subject: string,
    { name, avatarUrl }: Omit<Profile, "etag">,
    former: string | undefined,
  ): Promise<Profile | undefined> {
    const etag = randomUUID();
    const row = { subject, name, avatar_url: avatarUrl, etag, update_time: this.#now() };
    if (former === undefined) {
      const { numInsertedOrUpdatedRows = 0n } = await this.#database
        .insertInto("iam_profiles")
        .values(row)
        .onConflict((conflict) => conflict.column("subject").doNothing())
        .executeTakeFirst();
      return numInsertedOrUpdatedRows === 0n ? undefined : { name, avatarUrl, etag };
    }
    const { numUpdatedRows } = await this.#database
      .updateTable("iam_profiles")
      .set(row)
      .where("subject", "=", subject)
      .where("etag", "=", former)
      .executeTakeFirst();
    return numUpdatedRows === 0n ? undefined : { name, avatarUrl, etag };
  }
}
