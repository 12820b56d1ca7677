import { requirePrincipal } from "svc-access/runtime";
import type { IAMSecondFactorServiceHandlers } from "../../../gen/svc/iam/v1/second_factors_server.ts";
import { OWN_ACCOUNT_PATH } from "../../config/provider-paths.ts";
import type { LocalAccounts } from "../../people/accounts/local-accounts.ts";
import type { FactorStore } from "../../people/factors/factor-store.ts";
import { localUser } from "../own-organization.ts";
import type { AccountRights } from "../users/account-rights.ts";
import { assertNotOwn } from "../users/own-account.ts";

/** Where people remove their own factors. */
const OWN_FACTORS = `for your own, open ${OWN_ACCOUNT_PATH}/factors in a browser`;

/** What the handlers need. */
export interface SecondFactorHandlersOptions {
  readonly store: Pick<FactorStore, "removeAll">;
  readonly accounts: Pick<LocalAccounts, "find">;
  readonly rights: Pick<AccountRights, "assertOwner">;
  /** `iam.organization`: whose users they are. */
  readonly organization: string;
}

/** The handlers of IAMSecondFactorService. */
export function secondFactorHandlers(
  options: SecondFactorHandlersOptions,
): IAMSecondFactorServiceHandlers {
  return {
    async removeUserSecondFactors({ userId }, context) {
      const { id } = await localUser(userId, options, context);
      await options.rights.assertOwner(requirePrincipal(context), context.signal);
      assertNotOwn(requirePrincipal(context), id, OWN_FACTORS);
      const removedCount = await options.store.removeAll(id);
      await context.audit.record({
        event: "second_factor.removed",
        riskLevel: "CRITICAL",
        resource: `user:${id}`,
        details: { factors: removedCount },
      });
      return { removedCount };
    },
  };
}
