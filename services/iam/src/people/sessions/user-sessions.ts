import type { Transaction } from "svc-access/database";
import type { CallContext } from "svc-access/runtime";
import type { ProviderTables } from "../../ground/store/provider-tables.ts";
import type { LoginSession } from "./login-session.ts";

/** Sessions of an account that have ended in one transaction with a change. */
export interface EndedWithChange {
  /** Those that have ended in it. */
  readonly ended: readonly LoginSession[];
  /**
   * Does what follows the transaction, outside of whatever makes others wait: the end counts at this replica, the
   * sessions that are too many for a transaction end, and the clients get to know of it.
   *
   * @returns all that have ended
   */
  finish(): Promise<readonly LoginSession[]>;
}

/** The logins of users, as the handlers list and end them. */
export interface UserSessions {
  /** The sessions of an account, the one that was used last first; at most 1,000. */
  list(accountId: string): Promise<readonly LoginSession[]>;
  /**
   * Ends a session, and notifies the clients that want to know of it.
   *
   * @returns false if the account has no such session
   */
  end(id: string, accountId: string, call: CallContext): Promise<boolean>;
  /**
   * Ends the sessions of an account, likewise.
   *
   * @param except one that continues
   * @returns how many were ended
   */
  endAll(accountId: string, call: CallContext, except?: string): Promise<number>;
  /**
   * Ends the sessions of an account in one transaction with the change that makes them end. The caller then lets it
   * finish.
   *
   * @param change returns false if nothing was changed: nothing ends then. It may run again
   * @param except one that continues
   * @returns undefined if nothing was changed
   */
  endWith(
    accountId: string,
    change: (transaction: Transaction<ProviderTables>) => Promise<boolean>,
    call: CallContext,
    except?: LoginSession,
  ): Promise<EndedWithChange | undefined>;
  /** The name of a client; empty if it is not configured. */
  clientName(clientId: string): string;
}
