import { isUniqueViolation, type ServiceDatabase } from "svc-access/database";
import { type CallContext, requirePrincipal, ServiceError } from "svc-access/runtime";
import { isOperator } from "../../ground/operator/operator.ts";
import type { RemovalTransaction } from "../../ground/removals/removal-kind.ts";
import type { Removals } from "../../ground/removals/removals.ts";
import { ChangedMeanwhileError } from "../../ground/rpc/lost-race.ts";
import type { IamTables } from "../../ground/store/tables.ts";
import type { AccountChange, AccountChanges } from "../../people/accounts/account-changes.ts";
import type { LocalAccount } from "../../people/accounts/account-row.ts";
import type { LocalAccounts } from "../../people/accounts/local-accounts.ts";
import type { ResetLinks } from "../../people/accounts/reset-links.ts";
import type { UserSessions } from "../../people/sessions/user-sessions.ts";
import type { LastOwner } from "../../rights/last-owner.ts";
import { callingUser } from "../own-organization.ts";
import type { AccountRights } from "./account-rights.ts";
import { USER_REMOVAL } from "./user-removal.ts";

/** What changes of users need. */
export interface UserChangesOptions {
  readonly database: ServiceDatabase<IamTables>;
  readonly accounts: Pick<LocalAccounts, "find">;
  readonly changes: AccountChanges;
  readonly sessions: Pick<UserSessions, "endWith">;
  readonly links: Pick<ResetLinks, "end">;
  readonly removals: Pick<Removals, "add">;
  readonly rights: Pick<AccountRights, "assertCovers" | "assertManages">;
  /** Refuses what would leave a zone without an enabled owner. */
  readonly owners: Pick<LastOwner, "guard">;
  /** `iam.organization`: whose users they are. */
  readonly organization: string;
}

/**
 * Changes of users by administrators. Of two administrators who disable each other at the same moment,
 * one succeeds: the caller must still be enabled in the transaction of the change.
 */
export class UserChanges {
  readonly #options: UserChangesOptions;

  constructor(options: UserChangesOptions) {
    this.#options = options;
  }

  /**
   * Changes the fields of a user.
   *
   * @param account as it was read: a change in the meantime is not overwritten
   * @throws ServiceError FORBIDDEN, FAILED_PRECONDITION or ALREADY_EXISTS
   */
  async update(
    account: LocalAccount,
    change: AccountChange,
    call: CallContext,
  ): Promise<LocalAccount> {
    const { database, changes } = this.#options;
    const { username = account.username, email = account.email } = change;
    const callerId = await this.#enabledCaller(call);
    // They take a login over, or hide it from its owner.
    if (username !== account.username || email !== account.email) {
      await this.#assertCovers(account, call);
    } else {
      await this.#options.rights.assertManages(requirePrincipal(call), call.signal);
    }
    const changed = await database
      .inTransaction(async (tx) => {
        await this.#lock(tx, callerId, account.id);
        return changes.update(usersIn(tx), account.id, change, account.etag);
      })
      .catch((error: unknown) => {
        if (!isUniqueViolation(error)) throw error;
        throw new ServiceError("ALREADY_EXISTS", "the user name is taken");
      });
    if (changed !== undefined) {
      await call.audit.record({
        event: "user.changed",
        riskLevel: "MEDIUM",
        resource: `user:${account.id}`,
        details: { fields: Object.keys(change).sort().join(", ") },
      });
      return changed;
    }
    throw changedMeanwhile();
  }

  /** Bars a user from logging in, and ends all that has begun. @throws ServiceError as `update` */
  async disable({ id }: LocalAccount, call: CallContext): Promise<LocalAccount> {
    const { changes } = this.#options;
    let disabled: LocalAccount | undefined;
    await this.#interrupt(id, call, async (tx) => {
      disabled = await changes.setDisabled(usersIn(tx), id, true);
      return disabled !== undefined;
    });
    if (disabled === undefined) throw noUser();
    return disabled;
  }

  /** Lets a user log in again. @throws ServiceError as `update` */
  async enable(account: LocalAccount, call: CallContext): Promise<LocalAccount> {
    const { database, changes } = this.#options;
    const callerId = await this.#enabledCaller(call);
    await this.#assertCovers(account, call);
    const enabled = await database.inTransaction(async (tx) => {
      await this.#lock(tx, callerId, account.id);
      return changes.setDisabled(usersIn(tx), account.id, false);
    });
    if (enabled === undefined) throw noUser();
    return enabled;
  }

  /** Marks a user as deleted, as `disable`; a job removes the rest. @throws ServiceError as `update` */
  async delete({ id }: LocalAccount, call: CallContext): Promise<void> {
    const { changes, removals } = this.#options;
    await this.#interrupt(id, call, async (tx) => {
      if (!(await changes.markDeleted(usersIn(tx), id))) return false;
      await removals.add(tx, USER_REMOVAL, id);
      return true;
    });
  }

  /** Ends the logins of a user in one transaction with the mark that makes them end. */
  async #interrupt(
    id: string,
    call: CallContext,
    mark: (tx: RemovalTransaction) => Promise<boolean>,
  ): Promise<void> {
    const { sessions, links, owners } = this.#options;
    const callerId = await this.#enabledCaller(call);
    await this.#assertCovers({ id }, call);
    const end = async (transaction: unknown) => {
      // The tables of the service are in one database.
      const tx = transaction as RemovalTransaction;
      await this.#lock(tx, callerId, id);
      await links.end(id, tx.$pickTables<"iam_password_reset_links">());
      return mark(tx);
    };
    const change = { leaving: [{ type: "user", id }] };
    const ended = await owners.guard(change, call.signal, async (_, effect) => {
      // It may have waited for long: a right that was lost meanwhile does not count.
      await this.#assertCovers({ id }, call);
      return effect(() => sessions.endWith(id, end, call));
    });
    if (ended === undefined) throw noUser();
    // Others no longer wait for it.
    await ended.finish();
  }

  /** @returns undefined for the operator, who is not a user */
  async #enabledCaller(call: CallContext): Promise<string | undefined> {
    const { accounts, organization } = this.#options;
    if (isOperator(requirePrincipal(call))) return undefined;
    const id = callingUser(call, organization);
    const account = await accounts.find(id);
    if (account === undefined || account.disabled) throw notEnabled();
    return id;
  }

  #assertCovers({ id }: Pick<LocalAccount, "id">, call: CallContext): Promise<void> {
    const account = { type: "user", id };
    return this.#options.rights.assertCovers(requirePrincipal(call), account, call.signal);
  }

  async #lock(tx: RemovalTransaction, callerId: string | undefined, id: string): Promise<void> {
    const ids = callerId === undefined ? [id] : [callerId, id];
    const enabled = await this.#options.changes.lock(usersIn(tx), ids);
    if (callerId !== undefined && !enabled.has(callerId)) throw notEnabled();
  }
}

function usersIn(tx: RemovalTransaction) {
  return tx.$pickTables<"iam_users">();
}

/** The error for a change of something else than what was read. */
export function changedMeanwhile(): ChangedMeanwhileError {
  return new ChangedMeanwhileError(
    "the user was changed meanwhile: read it again, and repeat the change",
  );
}

function notEnabled(): ServiceError {
  return new ServiceError("FORBIDDEN", "the caller is not an enabled local user");
}

function noUser(): ServiceError {
  return new ServiceError("RESOURCE_NOT_FOUND", "the user does not exist");
}
