import { createHash, randomBytes, randomUUID } from "node:crypto";
import type { Kysely, Transaction } from "svc-access/database";
import type { BootstrapLinkRow, BootstrapTables } from "../ground/store/bootstrap-tables.ts";
import type { NewAccount } from "../people/accounts/local-accounts.ts";

const MINUTE = 60_000;
/** How long a link works. */
export const LINK_LIFE_MS = 30 * MINUTE;

/** How long after its end a link may still be in use by a call under way. */
export const GRACE_MS = 600_000;
/** `pending` of a link that somebody has logged in by, in place of a user that is being made. */
export const CLAIMED = "{}";

const TOKEN_BYTES = 32;
const TOKEN = /^[A-Za-z0-9_-]{43}$/;

/** A link that can be used. */
export interface BootstrapLink {
  /** What the database knows the link by. */
  readonly hash: string;
  readonly zone: string;
  /** The id of the local user that it makes, or of the user who has logged in by it. */
  readonly accountId: string;
  /** Whether somebody has logged in by it. */
  readonly isClaimed: boolean;
  /** Whether the event is stored of the owner that it has made. */
  readonly isUsed: boolean;
  /** The user that an earlier attempt began to make. */
  readonly pending: NewAccount | undefined;
  /** Milliseconds since the epoch. */
  readonly expireTime: number;
}

/** A new link. */
export interface NewBootstrapLink {
  /** The secret in the link, which is nowhere else. */
  readonly token: string;
  /** Milliseconds since the epoch. */
  readonly expireTime: number;
}

/** The links that make first owners, in the database: only hashes of their tokens. */
export class BootstrapLinks {
  readonly #database: Kysely<BootstrapTables>;
  readonly #now: () => number;

  /** @param now milliseconds since the epoch */
  constructor(database: Kysely<BootstrapTables>, now: () => number = Date.now) {
    this.#database = database;
    this.#now = now;
  }

  /** Makes a link for a zone, and removes those that no longer work. */
  async make(zone: string): Promise<NewBootstrapLink> {
    const token = randomBytes(TOKEN_BYTES).toString("base64url");
    const now = this.#now();
    const expireTime = now + LINK_LIFE_MS;
    await this.removeExpired();
    const row: BootstrapLinkRow = {
      token_hash: hashOf(token),
      zone,
      account_id: randomUUID(),
      pending: null,
      create_time: now,
      expire_time: expireTime,
      used_time: null,
    };
    await this.#database.insertInto("iam_bootstrap_links").values(row).execute();
    return { token, expireTime };
  }

  /** The link of a token; undefined if it is unknown, was used or has expired. */
  async find(token: string): Promise<BootstrapLink | undefined> {
    if (!TOKEN.test(token)) return undefined;
    const row = await this.#database
      .selectFrom("iam_bootstrap_links")
      .selectAll()
      .where("token_hash", "=", hashOf(token))
      .where("used_time", "is", null)
      .where("expire_time", ">", this.#now())
      .executeTakeFirst();
    return row === undefined ? undefined : linkOf(row);
  }

  /** The zone of a link, also of one that was used or has expired; undefined if it is unknown or was removed. */
  async zoneOf(token: string): Promise<string | undefined> {
    if (!TOKEN.test(token)) return undefined;
    const row = await this.#database
      .selectFrom("iam_bootstrap_links")
      .select("zone")
      .where("token_hash", "=", hashOf(token))
      .executeTakeFirst();
    return row?.zone;
  }

  /** The user whom a link has made that was used; undefined if there is none. */
  async accountOfUsed(token: string): Promise<string | undefined> {
    if (!TOKEN.test(token)) return undefined;
    const row = await this.#database
      .selectFrom("iam_bootstrap_links")
      .select("account_id")
      .where("token_hash", "=", hashOf(token))
      .where("used_time", "is not", null)
      .executeTakeFirst();
    return row?.account_id;
  }

  /**
   * Stores the user that a link is about to make.
   *
   * @returns false if the link no longer works
   */
  async begin({ hash }: BootstrapLink, account: NewAccount): Promise<boolean> {
    const { numUpdatedRows } = await this.#database
      .updateTable("iam_bootstrap_links")
      .set({ pending: JSON.stringify(account) })
      .where("token_hash", "=", hash)
      .where("used_time", "is", null)
      .where("expire_time", ">", this.#now())
      .executeTakeFirst();
    return numUpdatedRows > 0n;
  }

  /**
   * Ends a link.
   *
   * @returns false if it was ended before
   */
  async end(
    hash: string,
    database: Kysely<BootstrapTables> | Transaction<BootstrapTables> = this.#database,
  ): Promise<boolean> {
    const { numUpdatedRows } = await database
      .updateTable("iam_bootstrap_links")
      .set({ pending: null, used_time: this.#now() })
      .where("token_hash", "=", hash)
      .where("used_time", "is", null)
      .executeTakeFirst();
    return numUpdatedRows > 0n;
  }

  /** The links that are in use, or were when a process ended. */
  async begun(): Promise<readonly BootstrapLink[]> {
    const rows = await this.#database
      .selectFrom("iam_bootstrap_links")
      .selectAll()
      .where("pending", "is not", null)
      .limit(MOST_BEGUN)
      .execute();
    return rows.map(linkOf);
  }

  /** Removes links that have expired, except those that are in use. */
  async removeExpired(): Promise<void> {
    await this.#database
      .deleteFrom("iam_bootstrap_links")
      .where("expire_time", "<=", this.#now())
      .where("pending", "is", null)
      .execute();
  }
}

/** Links are made by operators, one at a time. */
const MOST_BEGUN = 100;

function linkOf(row: BootstrapLinkRow): BootstrapLink {
  const { token_hash: hash, zone, account_id: accountId, pending, expire_time, used_time } = row;
  return {
    hash,
    zone,
    accountId,
    isClaimed: pending === CLAIMED,
    isUsed: used_time !== null,
    pending: pending === null || pending === CLAIMED ? undefined : JSON.parse(pending),
    // PostgreSQL sends whole numbers of 64 bits as text.
    expireTime: Number(expire_time),
  };
}

/** A token has 256 random bits: its hash needs no salt, and looking it up by hash reveals nothing. */
function hashOf(token: string): string {
  return createHash("sha256").update(token).digest("base64url");
}
