import { type Kysely, sql } from "svc-access/database";
import type { UserTables } from "../../../ground/store/user-tables.ts";
import { quotaKey } from "./throttle-keys.ts";

/** How far the clocks of replicas may be apart; a span that begins later began before a clock was set back. */
const CLOCKS_APART_MS = 60_000;

/** How often something may be done, by one account or from one address. */
export interface QuotaLimit {
  /** What it is; each has a count of its own. */
  readonly purpose: string;
  /** How often within a span. */
  readonly most: number;
  /** Less than the time after which `LoginThrottle` forgets. */
  readonly spanMs: number;
}

/** Counts what is done by an account or from an address, across all replicas. */
export class Quota {
  readonly #database: Kysely<UserTables>;
  readonly #limit: QuotaLimit;
  readonly #now: () => number;

  /** @param now milliseconds since the epoch */
  constructor(database: Kysely<UserTables>, limit: QuotaLimit, now: () => number = Date.now) {
    this.#database = database;
    this.#limit = limit;
    this.#now = now;
  }

  /**
   * Counts one use, in one statement, so that many at once are not fewer.
   *
   * @param whose such as the id of an account, or `networkOf` an address
   * @returns after how many milliseconds another one is allowed, if this one is not
   */
  async use(...whose: readonly string[]): Promise<number | undefined> {
    const { purpose, most, spanMs } = this.#limit;
    const now = this.#now();
    const key = quotaKey(purpose, ...whose);
    const isOver = sql<boolean>`(iam_throttles.update_time <= ${now - spanMs}
      or iam_throttles.update_time > ${now + CLOCKS_APART_MS})`;
    const counted = await this.#database
      .insertInto("iam_throttles")
      .values({ key, failures: 1, blocked_until: 0, update_time: now })
      .onConflict((conflict) =>
        conflict
          .column("key")
          .doUpdateSet({
            failures: sql<number>`case when ${isOver} then 1 else iam_throttles.failures + 1 end`,
            update_time: sql<number>`case when ${isOver} then cast(${now} as bigint)
              else iam_throttles.update_time end`,
          })
          .where((is) => is.or([isOver, is("iam_throttles.failures", "<", most)])),
      )
      .returning("failures")
      .executeTakeFirst();
    if (counted !== undefined) return undefined;
    const row = await this.#row(key);
    return Math.max(1000, Number(row?.update_time ?? now) + spanMs - now);
  }

  /**
   * Whether a use would be refused, without counting one: for whoever counts elsewhere first.
   *
   * @returns after how many milliseconds it is allowed, if it is not now
   */
  async wait(...whose: readonly string[]): Promise<number | undefined> {
    const { purpose, most, spanMs } = this.#limit;
    const now = this.#now();
    const row = await this.#row(quotaKey(purpose, ...whose));
    const begin = Number(row?.update_time ?? 0);
    const isOver = begin <= now - spanMs || begin > now + CLOCKS_APART_MS;
    if (isOver || Number(row?.failures) < most) return undefined;
    return Math.max(1000, begin + spanMs - now);
  }

  #row(key: string) {
    return this.#database
      .selectFrom("iam_throttles")
      .select(["update_time", "failures"])
      .where("key", "=", key)
      .executeTakeFirst();
  }
}
