import type { Kysely } from "svc-access/database";
import { isStorable } from "../../ground/store/storable-text.ts";
import { searchKey } from "../../ground/store/user-search-keys.ts";
import type { UserTables } from "../../ground/store/user-tables.ts";
import { accountOf, type LocalAccount } from "./account-row.ts";

/** Which users are searched. */
export interface UserSearchQuery {
  /** What the user name, display name or e-mail address begins with, in any letter case; empty: anything. */
  readonly text: string;
  /** The normalized user name after which they begin; empty: the first. */
  readonly after: string;
  readonly limit: number;
}

/** A part of the users that were found. */
export interface FoundUsers {
  readonly users: readonly LocalAccount[];
  /**
   * The normalized user name after which others may follow; undefined where none do. There may be fewer users
   * than the limit all the same.
   */
  readonly next: string | undefined;
}

const KEYS = ["username_key", "display_key", "email_key"] as const;
/** How many matches of each column are sorted; where there are more, users are looked through instead. */
const MOST_SORTED = 1000;
/** How many users one page looks through. */
const MOST_LOOKED_THROUGH = 5000;
/** How many ids one statement has. */
const IDS_AT_ONCE = 500;
/** The last code point: after all texts that begin with what is before it. */
const LAST = "\u{10ffff}";

type Users = Pick<UserTables, "iam_users">;

/**
 * Finds local users by what their names begin with, by user name, in bounded time: few matches are found by
 * the indexes, and among many matches the next ones are near.
 */
export class UserSearch {
  readonly #database: Kysely<Users>;
  readonly #organization: string;

  /** @param organization `iam.organization`, which all of them belong to */
  constructor(database: Kysely<UserTables>, organization: string) {
    this.#database = database.$pickTables<"iam_users">();
    this.#organization = organization;
  }

  /** A page of the users. */
  async search({ text, after, limit }: UserSearchQuery): Promise<FoundUsers> {
    const prefix = searchKey(text);
    if (!isStorable(prefix) || !isStorable(after)) return { users: [], next: undefined };
    const matches = prefix === "" ? undefined : await this.#matches(prefix, after);
    return matches === undefined
      ? this.#lookThrough(prefix, after, limit)
      : this.#page(matches, limit);
  }

  /**
   * The users with some ids.
   *
   * @param ids of those that are not users, nothing is found
   */
  async among(
    ids: readonly string[],
    { text, after, limit }: UserSearchQuery,
  ): Promise<FoundUsers> {
    const prefix = searchKey(text);
    const found: string[] = [];
    for (let start = 0; start < ids.length; start += IDS_AT_ONCE) {
      const rows = await this.#database
        .selectFrom("iam_users")
        .select(KEYS)
        .where("id", "in", ids.slice(start, start + IDS_AT_ONCE).filter(isStorable))
        .where("username_key", ">", after)
        .where("deleted_time", "is", null)
        .execute();
      for (const row of rows) {
        if (KEYS.some((key) => row[key].startsWith(prefix))) found.push(row.username_key);
      }
    }
    return this.#page(found, limit);
  }

  /** The normalized user names that match; undefined where they are too many to be sorted. */
  async #matches(prefix: string, after: string): Promise<readonly string[] | undefined> {
    const found = new Set<string>();
    for (const key of KEYS) {
      const rows = await this.#database
        .selectFrom("iam_users")
        .select("username_key")
        .where(key, ">=", prefix)
        .where(key, "<", prefix + LAST)
        .where("deleted_time", "is", null)
        .limit(MOST_SORTED + 1)
        .execute();
      if (rows.length > MOST_SORTED) return undefined;
      for (const { username_key } of rows) if (username_key > after) found.add(username_key);
    }
    return [...found];
  }

  /** The first of the users with some normalized user names. */
  async #page(names: readonly string[], limit: number): Promise<FoundUsers> {
    const sorted = names.toSorted(byBytes);
    const page = sorted.slice(0, limit);
    const users: LocalAccount[] = [];
    for (let start = 0; start < page.length; start += IDS_AT_ONCE) {
      const rows = await this.#database
        .selectFrom("iam_users")
        .selectAll()
        .where("username_key", "in", page.slice(start, start + IDS_AT_ONCE))
        .where("deleted_time", "is", null)
        .orderBy("username_key")
        .execute();
      users.push(...rows.map((row) => accountOf(row, this.#organization)));
    }
    return { users, next: sorted.length > limit ? page.at(-1) : undefined };
  }

  /** Those that match among the next users. */
  async #lookThrough(prefix: string, after: string, limit: number): Promise<FoundUsers> {
    const users = this.#database.selectFrom("iam_users").where("deleted_time", "is", null);
    const following = users.where("username_key", ">", after).orderBy("username_key");
    // All users match nothing in particular: the next ones are the page.
    const last =
      prefix === ""
        ? undefined
        : await following
            .select("username_key")
            .offset(MOST_LOOKED_THROUGH - 1)
            .limit(1)
            .executeTakeFirst();
    let query = following.selectAll().limit(limit + 1);
    if (last !== undefined) query = query.where("username_key", "<=", last.username_key);
    if (prefix !== "") {
      query = query.where((is) =>
        is.or(KEYS.map((key) => is.and([is(key, ">=", prefix), is(key, "<", prefix + LAST)]))),
      );
    }
    const rows = await query.execute();
    const page = rows.slice(0, limit);
    return {
      users: page.map((row) => accountOf(row, this.#organization)),
      next: rows.length > limit ? page.at(-1)?.username_key : last?.username_key,
    };
  }
}

/** As databases compare text, by UTF-8, which is not the order of JavaScript beyond the first plane. */
function byBytes(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}
