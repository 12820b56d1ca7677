import type { ServiceDatabase, Transaction } from "svc-access/database";
import { type CallContext, requirePrincipal, ServiceError } from "svc-access/runtime";
import { isOperator } from "../../ground/operator/operator.ts";
import type { RemovalTransaction } from "../../ground/removals/removal-kind.ts";
import type { ProviderTables } from "../../ground/store/provider-tables.ts";
import type { IamTables } from "../../ground/store/tables.ts";
import type { AccountChanges } from "../../people/accounts/account-changes.ts";
import type { ServiceAccountDatabase } from "../../people/accounts/service-accounts/service-accounts.ts";
import type { Revocations } from "../../people/sessions/revocations.ts";
import { callingUser } from "../own-organization.ts";
import type { AccountRights } from "../users/account-rights.ts";

/** What the transactions need. */
export interface AccountWritesOptions {
  readonly database: ServiceDatabase<IamTables>;
  readonly users: Pick<AccountChanges, "lock">;
  readonly revocations: Pick<Revocations, "add" | "announce">;
  readonly rights: Pick<AccountRights, "assertCovers" | "assertManages">;
  /** `iam.organization`: whose service accounts they are. */
  readonly organization: string;
}

/** What one transaction writes. */
export interface AccountWrite<Result> {
  readonly result: Result;
  /** The claims `sid` of the tokens that end with it. */
  readonly ended?: readonly string[];
}

/** The transactions in which administrators change service accounts. */
export class AccountWrites {
  readonly #options: AccountWritesOptions;

  constructor(options: AccountWritesOptions) {
    this.#options = options;
  }

  /**
   * Checks that the caller may take a service account over, or interrupt it.
   *
   * @throws ServiceError FORBIDDEN
   */
  async assertCovers(id: string, call: CallContext): Promise<void> {
    const account = { type: "service_account", id };
    await this.#options.rights.assertCovers(requirePrincipal(call), account, call.signal);
  }

  /**
   * Checks that the caller still may manage service accounts.
   *
   * @throws ServiceError FORBIDDEN
   */
  async assertManages(call: CallContext): Promise<void> {
    await this.#options.rights.assertManages(requirePrincipal(call), call.signal);
  }

  /**
   * Writes for a caller who is an enabled user until the transaction ends. The tokens end in the same
   * transaction, so none of them counts after it.
   *
   * @param work may run again
   * @throws ServiceError FORBIDDEN; whatever the work throws
   */
  async write<Result>(
    call: CallContext,
    work: (
      database: ServiceAccountDatabase,
      tx: RemovalTransaction,
    ) => Promise<AccountWrite<Result>>,
  ): Promise<Result> {
    const { database, users, revocations, organization } = this.#options;
    const isUser = !isOperator(requirePrincipal(call));
    const callerIds = isUser ? [callingUser(call, organization)] : [];
    const result = await database.inTransaction(async (tx) => {
      const enabled = await users.lock(tx.$pickTables<"iam_users">(), callerIds);
      if (enabled.size < callerIds.length) {
        throw new ServiceError("FORBIDDEN", "the caller is not an enabled local user");
      }
      const accounts = tx.$pickTables<"iam_service_accounts" | "iam_service_account_keys">();
      const { result: done, ended = [] } = await work(accounts, tx);
      const sids = ended.map((value) => ({ kind: "sid", value }) as const);
      // The tables of the service are in one database.
      await revocations.add(tx as unknown as Transaction<ProviderTables>, sids);
      return done;
    });
    await revocations.announce();
    return result;
  }
}
