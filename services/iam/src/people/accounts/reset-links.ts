import { createHash, randomBytes } from "node:crypto";
import {
  databaseTime,
  type Kysely,
  type RawBuilder,
  type ServiceDatabase,
  sql,
} from "svc-access/database";
import type { PasswordTables } from "../../ground/store/password-tables.ts";

type MakerColumns = Pick<PasswordTables["iam_password_reset_links"], "maker_type" | "maker_id">;

/** How long a link works. */
export const RESET_LINK_LIFE_MS = 3_600_000;
/** How long the audit can still say whose link it was. */
const KEEP_MS = 86_400_000;

const TOKEN_BYTES = 32;
const TOKEN = /^[A-Za-z0-9_-]{43}$/;

/** A new link. */
export interface NewResetLink {
  /** The secret in the link, which is nowhere else. */
  readonly token: string;
  /** Milliseconds since the epoch, by the clock of the database. */
  readonly expireTime: number;
}

/** Who has made a link. */
export interface LinkMaker {
  /** The subject type of the authorization model. */
  readonly subjectType: string;
  readonly subjectId: string;
}

/** A link that can be used if its maker still may. */
export interface ResetLink {
  /** What the database knows the link by. */
  readonly hash: string;
  readonly accountId: string;
  /** Undefined if the link was made before this was stored. */
  readonly maker: LinkMaker | undefined;
}

/** Why a link cannot be used; for the audit only. */
export interface DeadResetLink {
  /**
   * `unknown` is also one that a newer one has replaced; `disabled` is the user, and `rights` are those
   * of who made the link.
   */
  readonly reason: "unknown" | "used" | "expired" | "disabled" | "rights";
  /** Whose it was, where that is known. */
  readonly accountId: string | undefined;
}

/**
 * The links by which new passwords are set, in the database: only hashes of their tokens, with times of
 * the database's clock.
 */
export class ResetLinks {
  readonly #database: Pick<ServiceDatabase<PasswordTables>, "kind" | "kysely">;
  readonly #now: (() => number) | undefined;

  /** @param now milliseconds since the epoch, instead of the clock of the database; for tests */
  constructor(
    database: Pick<ServiceDatabase<PasswordTables>, "kind" | "kysely">,
    now?: () => number,
  ) {
    this.#database = database;
    this.#now = now;
  }

  /** Makes a link for an account, in place of the former one. */
  async make(accountId: string, maker: LinkMaker): Promise<NewResetLink> {
    const token = randomBytes(TOKEN_BYTES).toString("base64url");
    const link = {
      token_hash: hashOf(token),
      create_time: this.#time(),
      expire_time: this.#time(RESET_LINK_LIFE_MS),
      used_time: null,
      maker_type: maker.subjectType,
      maker_id: maker.subjectId,
    };
    const { expire_time } = await this.#database.kysely
      .insertInto("iam_password_reset_links")
      .values({ account_id: accountId, ...link })
      .onConflict((conflict) => conflict.column("account_id").doUpdateSet(link))
      .returning("expire_time")
      .executeTakeFirstOrThrow();
    // PostgreSQL sends whole numbers of 64 bits as text.
    return { token, expireTime: Number(expire_time) };
  }

  /** The link of a token, if it can be used; it does not ask about the rights of its maker. */
  async find(token: string): Promise<ResetLink | DeadResetLink> {
    if (!TOKEN.test(token)) return { reason: "unknown", accountId: undefined };
    const hash = hashOf(token);
    const row = await this.#database.kysely
      .selectFrom("iam_password_reset_links")
      .selectAll()
      .select(this.#time().as("time"))
      .where("token_hash", "=", hash)
      .executeTakeFirst();
    if (row === undefined) return { reason: "unknown", accountId: undefined };
    const accountId = row.account_id;
    if (row.used_time !== null) return { reason: "used", accountId };
    if (Number(row.expire_time) <= Number(row.time)) return { reason: "expired", accountId };
    return { hash, accountId, maker: makerOf(row) };
  }

  /**
   * Ends a link that is used, in the transaction of its use: of several at once, one succeeds.
   *
   * @returns false if it can no longer be used
   */
  async use({ hash, accountId }: ResetLink, database: Kysely<PasswordTables>): Promise<boolean> {
    const { numUpdatedRows } = await database
      .updateTable("iam_password_reset_links")
      .set({ used_time: this.#time() })
      .where("account_id", "=", accountId)
      .where("token_hash", "=", hash)
      .where("used_time", "is", null)
      .where("expire_time", ">", this.#time())
      .executeTakeFirst();
    return numUpdatedRows > 0n;
  }

  /** Ends the link of an account, if it has one, in the transaction in which its password is changed. */
  async end(accountId: string, database: Kysely<PasswordTables>): Promise<void> {
    await database
      .deleteFrom("iam_password_reset_links")
      .where("account_id", "=", accountId)
      .execute();
  }

  /** Removes those that stopped working a day ago. */
  async removeExpired(): Promise<void> {
    await this.#database.kysely
      .deleteFrom("iam_password_reset_links")
      .where("expire_time", "<", this.#time(-KEEP_MS))
      .execute();
  }

  /** The time in so many milliseconds. */
  #time(after = 0): RawBuilder<number> {
    return sql<number>`${databaseTime(this.#database.kind, this.#now)} + ${sql.lit(after)}`;
  }
}

function makerOf({ maker_type: subjectType, maker_id: subjectId }: MakerColumns) {
  return subjectType === null || subjectId === null ? undefined : { subjectType, subjectId };
}

/** A token has 256 random bits: its hash needs no salt, and looking it up by hash reveals nothing. */
function hashOf(token: string): string {
  return createHash("sha256").update(token).digest("base64url");
}
