import type { Accounts } from "../accounts/accounts.ts";
import type { Factors } from "../factors/factors.ts";
import type { Page } from "../pages/page.ts";
import { type InteractionForm, loginPage } from "./interaction-pages.ts";
import type { StepResult } from "./login-steps.ts";
import { enrollPage, newCodesPage, secondFactorPage } from "./second-step-pages.ts";

/** A step that a page is shown for. */
export type StepPage = Extract<StepResult, { readonly outcome: "page" }>;

/** The page of a step of a login. */
export async function stepPage(
  factors: Factors,
  accounts: Pick<Accounts, "find">,
  { state, codes = [] }: StepPage,
  form: InteractionForm & { readonly username: string },
): Promise<Page> {
  const { first, secret, isEnrolled, challenge } = state;
  if (first === undefined) {
    const passkey = await factors.passkeys.requestOptions(undefined, challenge);
    return loginPage({ ...form, passkey });
  }
  if (isEnrolled === true) return newCodesPage({ ...form, codes });
  const { accountId } = first;
  if (secret !== undefined) {
    const { username = "" } = (await accounts.find(accountId)) ?? {};
    return enrollPage({ ...form, username, issuer: factors.issuer, secret });
  }
  const known = await factors.store.list(accountId);
  const hasPasskey = known.some(({ kind }) => kind === "passkey");
  return secondFactorPage({
    ...form,
    passkey: hasPasskey ? await factors.passkeys.requestOptions(accountId, challenge) : undefined,
  });
}
