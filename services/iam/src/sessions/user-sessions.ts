import type { CallContext } from "svc-access/runtime";
import type { LoginSession } from "./login-session.ts";

/** The logins of users, as the handlers list and end them. */
export interface UserSessions {
  /** The sessions of an account, the one that was used last first; at most 1,000. */
  list(accountId: string): Promise<readonly LoginSession[]>;
  /**
   * Ends a session, and tells the clients that want to know of it.
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
  /** The name of a client; empty if it is not configured. */
  clientName(clientId: string): string;
}
