import type { Transaction } from "svc-access/database";
import type { CallContext } from "svc-access/runtime";
import type { ProviderTables } from "../../ground/store/provider-tables.ts";
import type { IamTables } from "../../ground/store/tables.ts";
import type { LocalAccounts } from "../../people/accounts/local-accounts.ts";
import type { PasswordLogin } from "../../people/accounts/password-login.ts";
import type { PasswordHasher } from "../../people/accounts/passwords/password-hasher.ts";
import { passwordProblem } from "../../people/accounts/passwords/password-rules.ts";
import type { DeadResetLink, ResetLink, ResetLinks } from "../../people/accounts/reset-links.ts";
import type { LoginSession } from "../../people/sessions/login-session.ts";
import type { UserSessions } from "../../people/sessions/user-sessions.ts";
import type { ResetRights } from "./reset-rights.ts";

/** What setting passwords needs. */
export interface PasswordChangesOptions {
  readonly accounts: LocalAccounts;
  readonly logins: PasswordLogin;
  readonly hasher: PasswordHasher;
  readonly sessions: Pick<UserSessions, "endWith">;
  readonly links: ResetLinks;
  readonly rights: Pick<ResetRights, "mayReset">;
}

/** The change of the own password. */
export interface OwnChange {
  readonly username: string;
  readonly current: string;
  readonly next: string;
  /** The session of the call, which continues. */
  readonly session: LoginSession | undefined;
}

/** What became of a change of the own password. */
export type ChangeResult =
  | { readonly outcome: "changed"; readonly endedSessions: number }
  /** The current password is another one, or the account is disabled. */
  | { readonly outcome: "wrong" }
  | { readonly outcome: "slowed"; readonly retryAfterMs: number }
  | { readonly outcome: "busy" }
  /** Somebody else has changed the password at the same time. */
  | { readonly outcome: "outdated" };

/** Why a current password that was entered does not count. */
export type CheckResult = Extract<ChangeResult, { readonly outcome: "wrong" | "slowed" | "busy" }>;

/** What became of a new password that was entered by a link. */
export type ResetResult =
  | { readonly outcome: "reset"; readonly endedSessions: number }
  /** Why the password may not be set. */
  | { readonly outcome: "invalid"; readonly problem: string }
  /** The link no longer works. */
  | { readonly outcome: "dead"; readonly reason: DeadResetLink["reason"] };

/** Sets new passwords. The sessions that end with the former one end in the same transaction. */
export class PasswordChanges {
  readonly #options: PasswordChangesOptions;

  constructor(options: PasswordChangesOptions) {
    this.#options = options;
  }

  /**
   * Changes the password of a caller who enters the current one: it is checked as in a login. All other
   * sessions of the caller end, and a link that an administrator has made.
   *
   * @param change with a new password that may be set
   * @throws QueueFullError where too many passwords are hashed
   */
  async change(accountId: string, change: OwnChange, call: CallContext): Promise<ChangeResult> {
    const { accounts, hasher, sessions, links } = this.#options;
    const { next, session } = change;
    const checked = await this.#checkCurrent(accountId, change, call);
    if (checked.outcome !== "ok") return checked;
    const hash = await hasher.hash(next, call.signal);
    const { passwordVersion } = checked;
    const ended = await sessions.endWith(
      accountId,
      async (tx) => {
        const { users, resets } = tablesIn(tx);
        if (!(await accounts.setPassword(users, accountId, hash, passwordVersion))) return false;
        await links.end(accountId, resets);
        return true;
      },
      call,
      session,
    );
    if (ended === undefined) return { outcome: "outdated" };
    return { outcome: "changed", endedSessions: (await ended.finish()).length };
  }

  /**
   * Checks the current password alone, as a change does: whoever corrects a new one that may not be set learns of
   * both. It counts as an attempt, likewise.
   *
   * @returns undefined if it is right
   */
  async check(
    accountId: string,
    entered: Pick<OwnChange, "username" | "current">,
    call: CallContext,
  ): Promise<CheckResult | undefined> {
    const checked = await this.#checkCurrent(accountId, entered, call);
    return checked.outcome === "ok" ? undefined : checked;
  }

  async #checkCurrent(
    accountId: string,
    { username, current }: Pick<OwnChange, "username" | "current">,
    { clientAddress: address, signal, deadline }: CallContext,
  ) {
    const attempt = { username, password: current, address, signal, deadline };
    const checked = await this.#options.logins.authenticate(attempt);
    // The user name now belongs to somebody else.
    const isOther = checked.outcome === "ok" && checked.account.id !== accountId;
    return isOther ? ({ outcome: "wrong" } as const) : checked;
  }

  /**
   * Sets the password of whom a link is for, and ends all sessions of theirs. The link no longer works
   * then; with a password that may not be set, it still does.
   *
   * @throws QueueFullError where too many passwords are hashed; AuthzError where it is not known whether
   * the maker of the link still may
   */
  async reset(link: ResetLink, password: string, call: CallContext): Promise<ResetResult> {
    const { accounts, hasher, sessions, links, rights } = this.#options;
    const { accountId, maker } = link;
    const account = await accounts.find(accountId);
    if (account === undefined || account.disabled) return { outcome: "dead", reason: "disabled" };
    const problem = await passwordProblem(password, account);
    if (problem !== undefined) return { outcome: "invalid", problem };
    const hash = await hasher.hash(password, call.signal);
    // As late as possible: the relationships are not in the database of the transaction.
    if (!(await rights.mayReset(maker, accountId, call.signal))) {
      return { outcome: "dead", reason: "rights" };
    }
    const ended = await sessions.endWith(
      accountId,
      async (tx) => {
        const { users, resets } = tablesIn(tx);
        // In the order in which a change locks them, so that neither waits for the other.
        if (!(await accounts.holdPassword(users, accountId))) return false;
        return (await links.use(link, resets)) && accounts.setPassword(users, accountId, hash);
      },
      call,
    );
    // Another request has used the link in the meantime, or has replaced it.
    if (ended === undefined) return { outcome: "dead", reason: "used" };
    return { outcome: "reset", endedSessions: (await ended.finish()).length };
  }
}

/** The tables of the service are in one database. */
function tablesIn(transaction: Transaction<ProviderTables>) {
  const all = transaction as unknown as Transaction<IamTables>;
  return {
    users: all.$pickTables<"iam_users">(),
    resets: all.$pickTables<"iam_password_reset_links">(),
  };
}
