import type { AuthorizationEngine } from "svc-access/authz";
import { ServiceError } from "svc-access/runtime";
import type { LocalAccounts } from "../accounts/local-accounts.ts";
import type { LinkMaker } from "../accounts/reset-links.ts";
import { isOperator } from "../operator/operator.ts";
import type { AccountRights } from "../users/account-rights.ts";

/** What the decision needs. */
export interface ResetRightsOptions {
  readonly accounts: Pick<LocalAccounts, "find">;
  readonly engine: Pick<AuthorizationEngine, "check">;
  readonly rights: Pick<AccountRights, "assertCovers">;
  /** `iam.organization`: whose users they are. */
  readonly organization: string;
}

/**
 * Decides who may have the password of an account reset. A link is as good as a login, so the decision
 * is made again for its maker when the link is opened and used: the user may do more by then, or the
 * maker less.
 */
export class ResetRights {
  readonly #options: ResetRightsOptions;

  constructor(options: ResetRightsOptions) {
    this.#options = options;
  }

  /**
   * Checks that a maker is an enabled local user with `manage_users`, and covers the account.
   *
   * @throws ServiceError FORBIDDEN if not; AuthzError or DatabaseError if that is not known
   */
  async assertMayReset(maker: LinkMaker, accountId: string, signal: AbortSignal): Promise<void> {
    const { accounts, engine, rights, organization } = this.#options;
    const { subjectType: type, subjectId: id } = maker;
    // Whoever can write to the database needs no right in it.
    if (isOperator(maker)) return;
    // Of another type, whether it is disabled or deleted would not be known.
    const account = type === "user" ? await accounts.find(id) : undefined;
    if (account === undefined || account.disabled) {
      throw new ServiceError("FORBIDDEN", "the caller is not an enabled local user");
    }
    const manages = {
      resource: { type: "zone", id: organization },
      permission: "manage_users",
      subject: { type, id },
    };
    if (!(await engine.check(manages, { signal })).allowed) {
      throw new ServiceError("FORBIDDEN", "the caller may not manage users");
    }
    await rights.assertCovers(maker, { type: "user", id: accountId }, signal);
  }

  /**
   * The same for the maker of a link.
   *
   * @param maker undefined for a link whose maker was not stored: it is refused
   * @throws AuthzError or DatabaseError if it is not known
   */
  async mayReset(
    maker: LinkMaker | undefined,
    accountId: string,
    signal: AbortSignal,
  ): Promise<boolean> {
    if (maker === undefined) return false;
    try {
      await this.assertMayReset(maker, accountId, signal);
      return true;
    } catch (error) {
      if (error instanceof ServiceError && error.code === "FORBIDDEN") return false;
      throw error;
    }
  }
}
