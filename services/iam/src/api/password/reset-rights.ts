import { ServiceError } from "svc-access/runtime";
import { isOperator } from "../../ground/operator/operator.ts";
import type { LocalAccounts } from "../../people/accounts/local-accounts.ts";
import type { LinkMaker } from "../../people/accounts/reset-links.ts";
import type { AccountRights } from "../users/account-rights.ts";
import { assertNotOwn } from "../users/own-account.ts";

/** How people change their own password. */
const OWN_PASSWORD =
  "for your own, POST /v1/iam/me/password:change, which takes the current password";

/** What the decision needs. */
export interface ResetRightsOptions {
  readonly accounts: Pick<LocalAccounts, "find">;
  readonly rights: Pick<AccountRights, "assertCovers">;
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
   * Checks that a maker is an enabled local user with `manage_users`, and covers the account of somebody else.
   *
   * @throws ServiceError FORBIDDEN if not; AuthzError or DatabaseError if that is not known
   */
  async assertMayReset(maker: LinkMaker, accountId: string, signal: AbortSignal): Promise<void> {
    const { accounts, rights } = this.#options;
    const { subjectType: type, subjectId: id } = maker;
    // Whoever can write to the database needs no right in it.
    if (isOperator(maker)) return;
    assertNotOwn(maker, accountId, OWN_PASSWORD);
    // Of another type, whether it is disabled or deleted would not be known.
    const account = type === "user" ? await accounts.find(id) : undefined;
    if (account === undefined || account.disabled) {
      throw new ServiceError("FORBIDDEN", "the caller is not an enabled local user");
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
