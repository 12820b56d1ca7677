import { randomUUID } from "node:crypto";
import type { Kysely } from "svc-access/database";
import type { UserTables } from "../../ground/store/user-tables.ts";

/** The preferences of a caller as they are stored. */
export interface StoredPreferences {
  /** JSON. */
  readonly document: string;
  readonly etag: string;
  /** Milliseconds since the epoch. */
  readonly updateTime: number;
}

/** What people prefer, by their subject. */
export class PreferenceStore {
  readonly #database: Kysely<UserTables>;
  readonly #now: () => number;

  /** @param now milliseconds since the epoch */
  constructor(database: Kysely<UserTables>, now: () => number = Date.now) {
    this.#database = database;
    this.#now = now;
  }

  /** Undefined where none are kept. */
  async find(subject: string): Promise<StoredPreferences | undefined> {
    const row = await this.#database
      .selectFrom("iam_preferences")
      .selectAll()
      .where("subject", "=", subject)
      .executeTakeFirst();
    if (row === undefined) return undefined;
    return { document: row.document, etag: row.etag, updateTime: Number(row.update_time) };
  }

  /**
   * Stores preferences in the place of those that were read.
   *
   * @param former the etag of those that were read; undefined where there were none
   * @returns undefined where somebody else has changed them since
   */
  async replace(
    subject: string,
    document: string,
    former: string | undefined,
  ): Promise<StoredPreferences | undefined> {
    const row = { subject, document, etag: randomUUID(), update_time: this.#now() };
    const { document: _, ...rest } = row;
    const result = { document, etag: rest.etag, updateTime: rest.update_time };
    if (former === undefined) {
      const { numInsertedOrUpdatedRows = 0n } = await this.#database
        .insertInto("iam_preferences")
        .values(row)
        .onConflict((conflict) => conflict.column("subject").doNothing())
        .executeTakeFirst();
      return numInsertedOrUpdatedRows === 0n ? undefined : result;
    }
    const { numUpdatedRows } = await this.#database
      .updateTable("iam_preferences")
      .set(row)
      .where("subject", "=", subject)
      .where("etag", "=", former)
      .executeTakeFirst();
    return numUpdatedRows === 0n ? undefined : result;
  }
}
