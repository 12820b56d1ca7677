import { type Kysely, sql } from "svc-access/database";
import type { UserTables } from "../../../ground/store/user-tables.ts";
import { throttleKeys } from "./throttle-keys.ts";

const SECOND = 1000;
const MINUTE = 60 * SECOND;

/** From when on attempts of one kind are refused for a while, and for how long. */
interface Limit {
  /** How many failures in a row have no consequence. */
  readonly free: number;
  /** The first wait, which doubles with each further failure. */
  readonly firstMs: number;
  /** How often it doubles. */
  readonly doublings: number;
}

const ACCOUNT_AND_ADDRESS: Limit = { free: 5, firstMs: SECOND, doublings: 9 };
/** Many people may share an address. */
const ADDRESS: Limit = { free: 50, firstMs: SECOND, doublings: 9 };
/** An account alone is never refused: whoever knows its name could lock its owner out. */
const ACCOUNT: Limit = { free: 20, firstMs: 0, doublings: 0 };

/** How much later an attempt on an account with many failures is answered. */
const SLOWED_FIRST_MS = 250;
const SLOWED_MOST_MS = 4000;
/** No limit is higher. */
const MOST_FAILURES = 100;
/** After this time without an attempt, failures are forgotten. */
const FORGET_MS = 60 * MINUTE;

const CLEAN_UP_BATCH = 500;

/** Whether an attempt may be made: after a pause, or only later. */
export type Permission =
  | { readonly allowed: true; readonly pauseMs: number }
  | { readonly allowed: false; readonly retryAfterMs: number };

/**
 * Slows who guesses passwords, across all replicas.
 *
 * An attempt counts as a failure from its beginning, so that a hundred at once are a hundred; a
 * right password takes it back.
 */
export class LoginThrottle {
  readonly #database: Kysely<UserTables>;
  readonly #now: () => number;

  /** @param now milliseconds since the epoch */
  constructor(database: Kysely<UserTables>, now: () => number = Date.now) {
    this.#database = database;
    this.#now = now;
  }

  /**
   * Counts an attempt.
   *
   * @param account the normalized user name, whether there is such an account or not
   * @param address the caller's IP address
   */
  async begin(account: string, address: string): Promise<Permission> {
    const keys = throttleKeys(account, address);
    // First, and without a write: each user name that a refused address tries would be another row.
    const refusedMs = await this.#refusal(keys.address, ADDRESS);
    if (refusedMs > 0) return { allowed: false, retryAfterMs: refusedMs };
    const here = await this.#count(keys.accountAndAddress, ACCOUNT_AND_ADDRESS);
    if (here.waitMs > 0) return { allowed: false, retryAfterMs: here.waitMs };
    const there = await this.#count(keys.address, ADDRESS);
    if (there.waitMs > 0) return { allowed: false, retryAfterMs: there.waitMs };
    const { failures } = await this.#count(keys.account, ACCOUNT);
    const over = failures - ACCOUNT.free;
    const pauseMs = over > 0 ? Math.min(SLOWED_FIRST_MS * 2 ** (over - 1), SLOWED_MOST_MS) : 0;
    return { allowed: true, pauseMs };
  }

  /**
   * Takes one attempt back. The others still count, unlike after `succeeded`: whoever may guess the secrets of others
   * has a right one of their own.
   */
  async takeBack(account: string, address: string): Promise<void> {
    const keys = throttleKeys(account, address);
    await this.#takeOne([keys.accountAndAddress, keys.account, keys.address]);
  }

  /** Takes an attempt back, since the password was right, and forgets the failures of the account at the address. */
  async succeeded(account: string, address: string): Promise<void> {
    const keys = throttleKeys(account, address);
    await this.#database
      .deleteFrom("iam_throttles")
      .where("key", "=", keys.accountAndAddress)
      .execute();
    await this.#takeOne([keys.account, keys.address]);
  }

  /** Removes what no longer counts. */
  async removeForgotten(signal: AbortSignal): Promise<void> {
    for (let removed = CLEAN_UP_BATCH; removed >= CLEAN_UP_BATCH && !signal.aborted; ) {
      // In batches: who guesses from many addresses leaves many rows.
      const rows = await this.#database
        .deleteFrom("iam_throttles")
        .where("key", "in", (db) =>
          db
            .selectFrom("iam_throttles")
            .select("key")
            .where("update_time", "<", this.#now() - FORGET_MS)
            .limit(CLEAN_UP_BATCH),
        )
        .where("update_time", "<", this.#now() - FORGET_MS)
        .returning("key")
        .execute();
      removed = rows.length;
    }
  }

  async #takeOne(keys: readonly string[]): Promise<void> {
    await this.#database
      .updateTable("iam_throttles")
      .set((eb) => ({ failures: eb("failures", "-", 1), blocked_until: 0 }))
      .where("key", "in", keys)
      .where("failures", ">", 0)
      .execute();
  }

  /** Counts an attempt by one key in one statement, so that many at once are not fewer. */
  async #count(key: string, limit: Limit): Promise<{ failures: number; waitMs: number }> {
    const now = this.#now();
    const { free, firstMs, doublings } = limit;
    const failures = sql<number>`case
      when iam_throttles.update_time < ${now - FORGET_MS} then 1
      when iam_throttles.failures < ${MOST_FAILURES} then iam_throttles.failures + 1
      else iam_throttles.failures end`;
    // The databases have no common function for powers of two.
    const waits = Array.from(
      { length: doublings },
      (_, times) =>
        sql`when ${failures} = ${free + times} then ${whole(now + firstMs * 2 ** times)}`,
    );
    const counted = await this.#database
      .insertInto("iam_throttles")
      .values({ key, failures: 1, blocked_until: 0, update_time: now })
      .onConflict((conflict) =>
        conflict
          .column("key")
          .doUpdateSet({
            failures,
            blocked_until: sql<number>`case when ${failures} < ${free} then 0
              ${sql.join(waits, sql` `)} else ${whole(now + firstMs * 2 ** doublings)} end`,
            update_time: now,
          })
          // A time that lies too far ahead was written before a clock was set back.
          .where((eb) =>
            eb.or([
              eb("iam_throttles.blocked_until", "<=", now),
              eb("iam_throttles.blocked_until", ">", now + firstMs * 2 ** doublings),
            ]),
          ),
      )
      .returning("failures")
      .executeTakeFirst();
    if (counted === undefined) return { failures: 0, waitMs: await this.#wait(key, now) };
    return { failures: Number(counted.failures), waitMs: 0 };
  }

  /** How long a key is refused; a time that lies too far ahead does not count. */
  async #refusal(key: string, { firstMs, doublings }: Limit): Promise<number> {
    const now = this.#now();
    const row = await this.#database
      .selectFrom("iam_throttles")
      .select("blocked_until")
      .where("key", "=", key)
      .executeTakeFirst();
    const waitMs = Number(row?.blocked_until ?? 0) - now;
    return waitMs > firstMs * 2 ** doublings ? 0 : Math.max(waitMs, 0);
  }

  async #wait(key: string, now: number): Promise<number> {
    const row = await this.#database
      .selectFrom("iam_throttles")
      .select("blocked_until")
      .where("key", "=", key)
      .executeTakeFirst();
    return Math.max(Number(row?.blocked_until ?? 0) - now, SECOND);
  }
}

/** A number in a place where PostgreSQL would take it for text. */
function whole(value: number) {
  return sql<number>`cast(${value} as bigint)`;
}
