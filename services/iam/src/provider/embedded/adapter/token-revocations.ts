import { asUnavailable } from "../../../ground/store/provider-database.ts";
import { Quota } from "../../../people/accounts/throttle/quota.ts";

type QuotaDatabase = ConstructorParameters<typeof Quota>[0];

/**
 * Of one subject at one client. Replicas and services hold a number of revocations in memory, and refuse all tokens
 * beyond it: a client that refreshes and revokes without end must not get there alone. Nor may it keep another client
 * from revoking tokens of the same subject.
 */
const LIMIT = { purpose: "revocations of tokens", most: 1000, spanMs: 600_000 } as const;

/** Limits how many tokens of a person or service account a client revokes. */
export class TokenRevocations {
  readonly #quota: Quota;

  /** @param database with the tables of the users */
  constructor(database: { readonly kysely: unknown }, now?: () => number) {
    this.#quota = new Quota(database.kysely as QuotaDatabase, LIMIT, now);
  }

  /**
   * Counts a revocation.
   *
   * @param subject the id of a person or service account
   * @param client the id of the client that revokes
   * @returns after how many seconds another one is allowed, if this one is not
   * @throws DatabaseUnavailable
   */
  async begin(subject: string, client: string): Promise<number | undefined> {
    const waitMs = await this.#quota.use(subject, client).catch((error: unknown) => {
      throw asUnavailable(error);
    });
    return waitMs === undefined ? undefined : Math.ceil(waitMs / 1000);
  }
}
