import { type CallContext, creationId } from "svc-access/runtime";
import type { Removals } from "../../ground/removals/removals.ts";
import type { ServiceAccount } from "../../people/accounts/service-accounts/service-account.ts";
import {
  removeKeys,
  renewSids,
} from "../../people/accounts/service-accounts/service-account-keys.ts";
import type {
  ServiceAccountFields,
  ServiceAccounts,
} from "../../people/accounts/service-accounts/service-accounts.ts";
import type { AccountWrites } from "./account-writes.ts";
import { changedMeanwhile, noAccount } from "./service-account-errors.ts";
import { SERVICE_ACCOUNT_REMOVAL } from "./service-account-removal.ts";

/** What changes of service accounts need. */
export interface ServiceAccountChangesOptions {
  readonly accounts: ServiceAccounts;
  readonly writes: AccountWrites;
  readonly removals: Pick<Removals, "add">;
}

/** Changes of service accounts by administrators. */
export class ServiceAccountChanges {
  readonly #options: ServiceAccountChangesOptions;

  constructor(options: ServiceAccountChangesOptions) {
    this.#options = options;
  }

  /** Creates an account without keys. @throws ServiceError FORBIDDEN */
  async create(fields: ServiceAccountFields, call: CallContext): Promise<ServiceAccount> {
    const { accounts, writes } = this.#options;
    await writes.assertManages(call);
    const id = creationId(call);
    // Of an earlier call with the same key, whose process has ended before it could say so.
    const made = await accounts.find(id);
    if (made !== undefined) return made;
    return writes.write(call, async (db) => ({ result: await accounts.create(db, fields, id) }));
  }

  /**
   * Changes the fields of an account.
   *
   * @param account as it was read: a change in the meantime is not overwritten
   * @throws ServiceError FORBIDDEN or FAILED_PRECONDITION
   */
  async update(
    { id, etag }: ServiceAccount,
    change: Partial<ServiceAccountFields>,
    call: CallContext,
  ): Promise<ServiceAccount> {
    const { accounts, writes } = this.#options;
    // Whether the services that it calls accept its tokens.
    if (change.audience !== undefined) await writes.assertCovers(id, call);
    else await writes.assertManages(call);
    const changed = await writes.write(call, async (db) => {
      const result = await accounts.change(db, id, change, etag);
      if (result === undefined) throw changedMeanwhile();
      return { result };
    });
    await call.audit.record({
      event: "service_account.changed",
      riskLevel: "MEDIUM",
      resource: `service_account:${id}`,
      details: { fields: Object.keys(change).sort().join(", ") },
    });
    return changed;
  }

  /** Bars an account from getting tokens, and ends those that it has. @throws ServiceError FORBIDDEN */
  async disable({ id }: ServiceAccount, call: CallContext): Promise<ServiceAccount> {
    const { accounts, writes } = this.#options;
    await writes.assertCovers(id, call);
    return writes.write(call, async (db) => {
      const result = await accounts.change(db, id, { disabled: true });
      if (result === undefined) throw noAccount();
      return { result, ended: await renewSids(db, id) };
    });
  }

  /** Lets an account get tokens again. @throws ServiceError FORBIDDEN */
  async enable({ id }: ServiceAccount, call: CallContext): Promise<ServiceAccount> {
    const { accounts, writes } = this.#options;
    await writes.assertCovers(id, call);
    return writes.write(call, async (db) => {
      const result = await accounts.change(db, id, { disabled: false });
      if (result === undefined) throw noAccount();
      return { result };
    });
  }

  /** Marks an account as deleted, with its keys; a job removes the rest. @throws ServiceError FORBIDDEN */
  async delete({ id }: ServiceAccount, call: CallContext): Promise<void> {
    const { accounts, writes, removals } = this.#options;
    await writes.assertCovers(id, call);
    await writes.write(call, async (db, tx) => {
      if (!(await accounts.markDeleted(db, id))) throw noAccount();
      await removals.add(tx, SERVICE_ACCOUNT_REMOVAL, id);
      return { result: undefined, ended: await removeKeys(db, id) };
    });
  }
}
