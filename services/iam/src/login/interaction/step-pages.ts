import { field, formToken } from "../../pages/form-parts.ts";
import { html, isolated } from "../../pages/html.ts";
import type { Page } from "../../pages/page.ts";
import type { Accounts } from "../../people/accounts/accounts.ts";
import { appSecret, passkeyForm, recoveryCodes } from "../../people/factors/factor-forms.ts";
import type { Factors } from "../../people/factors/factors.ts";
import { type InteractionForm, loginPage, summary } from "./interaction-pages.ts";
import type { StepResult } from "./login-steps.ts";
import { PASSKEY_SCRIPT } from "./passkey-script.ts";

/** A step that a page is shown for. */
export type StepPage = Extract<StepResult, { readonly outcome: "page" }>;

/** The page of a step of a login. */
export async function stepPage(
  factors: Factors,
  accounts: Pick<Accounts, "find">,
  { state, codes = [] }: StepPage,
  form: InteractionForm & { readonly username: string; readonly isAgain: boolean },
): Promise<Page> {
  const { first, secret, enrolledTime, challenge } = state;
  if (first === undefined) {
    const passkey = await factors.passkeys.requestOptions(undefined, challenge);
    return loginPage({ ...form, passkey });
  }
  if (enrolledTime !== undefined) return newCodesPage({ ...form, codes });
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

/** The page on which people enter a code, or use a passkey, after their password. */
function secondFactorPage(
  form: InteractionForm & {
    /** Of `Passkeys`; undefined for somebody without one. */
    readonly passkey: object | undefined;
  },
): Page {
  return (texts) => {
    const { say } = texts;
    const codes = html`<form method="post">
${formToken(form.token)}
${field({
  name: "code",
  label: say("Code"),
  hint: say("Of your authenticator app, or a recovery code"),
  autocomplete: "one-time-code",
  longest: 64,
  isFirst: form.problem === undefined,
})}
<button type="submit" name="action" value="code">${say("Continue")}</button>
<button class="second" type="submit" name="action" value="cancel" formnovalidate>${say("Cancel")}</button>
</form>`;
    return {
      title: say("Confirm that it is you"),
      leadsTo: form.leadsTo,
      isProblem: form.problem !== undefined,
      ...(form.passkey === undefined ? {} : { script: PASSKEY_SCRIPT }),
      body: html`<p>${say("to continue to {client}", { client: isolated(form.client) })}</p>
${summary(texts, form)}
${codes}
${
  form.passkey &&
  passkeyForm(texts, {
    options: form.passkey,
    token: form.token,
    action: "passkey",
    button: "Use a passkey",
  })
}`,
    };
  };
}

/** The page on which somebody who must have a second factor adds an authenticator app. */
async function enrollPage(
  form: InteractionForm & {
    readonly username: string;
    readonly issuer: string;
    readonly secret: string;
  },
): Promise<Page> {
  const shown = await appSecret(form.issuer, form.username, form.secret);
  return (texts) => {
    const { say } = texts;
    return {
      title: say("Add an authenticator app"),
      leadsTo: form.leadsTo,
      isProblem: form.problem !== undefined,
      body: html`${summary(texts, form)}
<p>${say("Your account needs a second factor.")}</p>
${shown(texts)}
<form method="post">
${formToken(form.token)}
${field({
  name: "code",
  label: say("Code"),
  autocomplete: "one-time-code",
  mode: "numeric",
  longest: 16,
})}
<button type="submit" name="action" value="code">${say("Continue")}</button>
<button class="second" type="submit" name="action" value="cancel" formnovalidate>${say("Cancel")}</button>
</form>`,
    };
  };
}

/** The page with the recovery codes of somebody who has just added the first factor. */
function newCodesPage(form: InteractionForm & { readonly codes: readonly string[] }): Page {
  return (texts) => ({
    title: texts.say("Your recovery codes"),
    leadsTo: form.leadsTo,
    body: html`${recoveryCodes(texts, form.codes)}
<form method="post">
${formToken(form.token)}
<button type="submit" name="action" value="code">${texts.say("I have kept the codes")}</button>
</form>`,
  });
}
