import { createHash } from "node:crypto";
import type { ServiceDatabase } from "svc-access/database";
import type { Job } from "svc-access/runtime";
import type { LoginCallbackTables } from "../../ground/store/login-callback-tables.ts";
import { CLOCKS_APART_MS } from "../../people/sessions/database-clock.ts";

/** A login whose callback has come. */
export interface CalledBackLogin {
  readonly state: string;
  /** When it expires, in milliseconds since the epoch. */
  readonly expireTime: number;
}

/**
 * The callbacks of logins, in the database that all replicas share: of several with one state, also at
 * the same moment, one counts. Otherwise two would redeem the code, for which a provider ends what it
 * has issued.
 */
export class LoginCallbacks {
  readonly #database: ServiceDatabase<LoginCallbackTables>;
  readonly #now: () => number;

  /** @param now milliseconds since the epoch */
  constructor(database: ServiceDatabase<LoginCallbackTables>, now: () => number = Date.now) {
    this.#database = database;
    this.#now = now;
  }

  /** Whether this callback is the first one of its login; no later one is. */
  async isFirst({ state, expireTime }: CalledBackLogin): Promise<boolean> {
    const { numInsertedOrUpdatedRows = 0n } = await this.#database.kysely
      .insertInto("iam_login_callbacks")
      .values({ state_hash: hash(state), expire_time: expireTime })
      .onConflict((conflict) => conflict.column("state_hash").doNothing())
      .executeTakeFirst();
    return numInsertedOrUpdatedRows > 0n;
  }

  /** The job that deletes those of logins that have expired at all replicas. */
  job(): Job {
    return { name: "login_callbacks", every: "1m", run: () => this.removeExpired() };
  }

  /** Deletes those of logins that have expired at all replicas. */
  async removeExpired(): Promise<void> {
    await this.#database.kysely
      .deleteFrom("iam_login_callbacks")
      .where("expire_time", "<=", this.#now() - 2 * CLOCKS_APART_MS)
      .execute();
  }
}

function hash(state: string): string {
  return createHash("sha256").update(state).digest("base64url");
}
