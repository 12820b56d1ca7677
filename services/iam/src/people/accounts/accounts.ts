import type { Transaction } from "svc-access/database";
import type { ProviderTables } from "../../ground/store/provider-tables.ts";
import type { Account } from "./account.ts";

/** An attempt to log in with a password. */
export interface PasswordAttempt {
  /** As it was typed. */
  readonly username: string;
  /** As it was typed. */
  readonly password: string;
  /** The address of the client, which slows down attempts. */
  readonly address: string;
  /** Aborts if the caller has cancelled. */
  readonly signal: AbortSignal;
  /** When the caller must have the answer, in milliseconds since the epoch: no pause goes beyond it. */
  readonly deadline: number;
}

/** What became of an attempt to log in. */
export type PasswordResult =
  | {
      readonly outcome: "ok";
      /** Who it is. */
      readonly account: Account;
      /** Of the password that was right: a login ends if it is changed before the login is complete. */
      readonly passwordVersion: number;
    }
  /** The account does not exist or is disabled, or the password is another one. */
  | { readonly outcome: "wrong" }
  | {
      /** There were too many failures. */
      readonly outcome: "slowed";
      /** When to try again. */
      readonly retryAfterMs: number;
    }
  /** Too many others log in at the moment. */
  | { readonly outcome: "busy" };

/** The accounts that can log in. */
export interface Accounts {
  /** The account with an id; undefined if there is none. */
  find(id: string): Promise<Account | undefined>;
  /** Checks a password, in the same time and with the same answer whether the account exists. */
  authenticate(attempt: PasswordAttempt): Promise<PasswordResult>;
  /**
   * Whether the password still has the version with which a login began. It keeps it until the
   * transaction ends: a change waits, and then ends what the transaction has stored.
   */
  holdPassword(
    transaction: Transaction<ProviderTables>,
    id: string,
    passwordVersion: number,
  ): Promise<boolean>;
  /** Ends the logins of an account that are under way: none of them may be stored once the transaction has ended. */
  endLogins(transaction: Transaction<ProviderTables>, id: string): Promise<void>;
}
