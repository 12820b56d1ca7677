import type { Kysely } from "svc-access/database";
import type { BootstrapTables } from "../ground/store/bootstrap-tables.ts";
import { type BootstrapLink, CLAIMED } from "./bootstrap-links.ts";

/** A link that somebody has logged in by. */
export type ClaimedLink = Pick<BootstrapLink, "hash" | "accountId">;

/**
 * Who has logged in by which link, in the database: `account_id` says who, or is the hash of the link where that is
 * nobody. A link is claimed, then used once the event of its owner is stored, then settled.
 */
export class LinkClaims {
  readonly #database: Kysely<BootstrapTables>;
  readonly #now: () => number;

  /** @param now milliseconds since the epoch */
  constructor(database: Kysely<BootstrapTables>, now: () => number = Date.now) {
    this.#database = database;
    this.#now = now;
  }

  /**
   * Stores who has logged in by a link: it makes nobody else the owner.
   *
   * @returns false if the link no longer works, or is another user's
   */
  async claim({ hash }: Pick<BootstrapLink, "hash">, userId: string): Promise<boolean> {
    const working = this.#database
      .updateTable("iam_bootstrap_links")
      .set({ pending: CLAIMED, account_id: userId })
      .where("token_hash", "=", hash)
      .where("used_time", "is", null)
      .where("expire_time", ">", this.#now());
    const first = await working.where("pending", "is", null).executeTakeFirst();
    if (first.numUpdatedRows > 0n) return true;
    const again = await working
      .where("pending", "=", CLAIMED)
      .where("account_id", "=", userId)
      .executeTakeFirst();
    return again.numUpdatedRows > 0n;
  }

  /** Stores that the event is stored of the owner that a link has made. Nobody can log in by it any more. */
  async use(hash: string): Promise<void> {
    await this.#database
      .updateTable("iam_bootstrap_links")
      .set({ used_time: this.#now() })
      .where("token_hash", "=", hash)
      .where("used_time", "is", null)
      .execute();
  }

  /** Whether a link has made a user the owner, and that is stored. */
  async isUsedBy({ hash }: Pick<BootstrapLink, "hash">, userId: string): Promise<boolean> {
    const row = await this.#database
      .selectFrom("iam_bootstrap_links")
      .select("token_hash")
      .where("token_hash", "=", hash)
      .where("account_id", "=", userId)
      .where("used_time", "is not", null)
      .executeTakeFirst();
    return row !== undefined;
  }

  /** Forgets a used link: nothing is left to do. */
  async settle(hash: string): Promise<void> {
    await this.#database
      .updateTable("iam_bootstrap_links")
      .set({ pending: null })
      .where("token_hash", "=", hash)
      .where("used_time", "is not", null)
      .execute();
  }

  /** Ends a link that has made nobody the owner. */
  async giveUp(hash: string): Promise<void> {
    await this.#database
      .updateTable("iam_bootstrap_links")
      .set({ pending: null, account_id: hash, used_time: this.#now() })
      .where("token_hash", "=", hash)
      .where("used_time", "is", null)
      .execute();
  }

  /** The links of a zone that somebody has logged in by, and that are not used. */
  async open(zone: string): Promise<readonly ClaimedLink[]> {
    const rows = await this.#database
      .selectFrom("iam_bootstrap_links")
      .select(["token_hash as hash", "account_id as accountId"])
      .where("zone", "=", zone)
      .where("pending", "=", CLAIMED)
      .where("used_time", "is", null)
      .whereRef("account_id", "!=", "token_hash")
      .execute();
    return rows;
  }

  /**
   * Lets nobody log in any more by the links of a zone that nobody has logged in by. Who opens one still sees that
   * the zone has an owner.
   */
  async blockOthers(zone: string): Promise<void> {
    await this.#database
      .updateTable("iam_bootstrap_links")
      .set(({ ref }) => ({ pending: CLAIMED, account_id: ref("token_hash") }))
      .where("zone", "=", zone)
      .where("pending", "is", null)
      .where("used_time", "is", null)
      .execute();
  }
}
