import type { Transaction } from "svc-access/database";
import type { ProviderTables } from "../../ground/store/provider-tables.ts";
import type { Factors } from "./factors.ts";

/** The second factors, and what a login by one needs of the account. */
export interface ProviderFactors {
  readonly factors: Factors;
  /** The version of the password of an enabled account; undefined for another one. */
  readonly passwordVersion: (accountId: string) => Promise<number | undefined>;
  /** Whether an account has a factor; in a transaction that holds the account, it remains so. */
  readonly isHeld: (
    accountId: string,
    transaction?: Transaction<ProviderTables>,
  ) => Promise<boolean>;
}
