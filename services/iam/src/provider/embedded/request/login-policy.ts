import type { interactionPolicy } from "oidc-provider";
import { usesFactor } from "../../../people/factors/has-factor.ts";
import type { ProviderFactors } from "../../../people/factors/provider-factors.ts";

/**
 * When a login is asked for, and a consent: as `oidc-provider` does, and of whoever logged in without a second factor
 * once the account has one. A session from before is that of anybody who knew the password.
 */
export function loginPolicy(
  { base, Check }: typeof interactionPolicy,
  factors: Pick<ProviderFactors, "isHeld"> | undefined,
): interactionPolicy.DefaultPolicy {
  const policy = base();
  if (factors === undefined) return policy;
  const check = new Check(
    "no_factor",
    "a second factor is required",
    "login_required",
    async ({ oidc }) => {
      const { accountId, amr } = oidc.session ?? {};
      if (accountId === undefined || usesFactor(amr)) return Check.NO_NEED_TO_PROMPT;
      return (await factors.isHeld(accountId)) ? Check.REQUEST_PROMPT : Check.NO_NEED_TO_PROMPT;
    },
  );
  policy.get("login")?.checks.add(check);
  return policy;
}
