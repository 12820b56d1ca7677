import { type FieldProblem, field, formToken, problemList } from "../../pages/form-parts.ts";
import { html, isolated } from "../../pages/html.ts";
import type { Page } from "../../pages/page.ts";
import type { Texts } from "../../pages/texts.ts";
import {
  type PasswordOwner,
  passwordProblem,
} from "../../people/accounts/passwords/password-rules.ts";

/** The path of the links by which new passwords are set. */
export const RESET_PATH = "/v1/iam/ui/password-reset";

/** Why a new password was not accepted. */
export interface NewPasswordProblems {
  /** The rest of a sentence about the password. */
  readonly password?: string | undefined;
  /** Whether the two are not the same. */
  readonly isOther?: boolean;
}

/**
 * Why a new password that somebody has entered twice may not be set.
 *
 * @returns undefined where it may
 */
export async function newPasswordProblems(
  form: URLSearchParams,
  owner: PasswordOwner,
): Promise<NewPasswordProblems | undefined> {
  const entered = form.get("password") ?? "";
  const password = await passwordProblem(entered, owner);
  const isOther = form.get("repeated") !== entered;
  return password === undefined && !isOther ? undefined : { password, isOther };
}

/** The fields of a new password, and their problems. */
export function newPasswordFields(
  { say, translate }: Texts,
  { password, isOther = false }: NewPasswordProblems = {},
) {
  const wrong = password && say("The password {problem}.", { problem: translate(password) });
  const other = isOther ? say("The second password is another one.") : undefined;
  const problems: FieldProblem[] = [
    ...(wrong ? [{ name: "password", problem: wrong }] : []),
    ...(other ? [{ name: "repeated", problem: other }] : []),
  ];
  const rules = { type: "password", autocomplete: "new-password", longest: 512 } as const;
  return {
    problems,
    fields: html`${field({
      ...rules,
      name: "password",
      label: say("New password"),
      hint: say("At least 12 characters"),
      problem: wrong || undefined,
      shortest: 12,
    })}
${field({ ...rules, name: "repeated", label: say("The new password again"), problem: other })}`,
  };
}

/** The form of a new password. */
export function resetPage(form: {
  readonly username: string;
  readonly problems: NewPasswordProblems | undefined;
  /** Of `FormTokens`. */
  readonly token: string;
}): Page {
  return (texts) => {
    const { say } = texts;
    const { problems, fields } = newPasswordFields(texts, form.problems);
    const username = html`<strong>${isolated(form.username)}</strong>`;
    return {
      title: say("Set a new password"),
      isProblem: problems.length > 0,
      body: html`${problemList(problems)}
<p>${say("The new password is for {username}. You are logged out everywhere then.", { username })}</p>
<form method="post" action="${RESET_PATH}">
${formToken(form.token)}
${field({
  name: "username",
  label: say("User name"),
  autocomplete: "username",
  value: form.username,
  isReadOnly: true,
})}
${fields}
<button type="submit">${say("Set the password")}</button>
</form>`,
    };
  };
}

/** The page of success. @param loginPath where the person logs in */
export function passwordSetPage(loginPath: string): Page {
  return ({ say }) => ({
    title: say("The password was set"),
    body: html`<p>${say("The link no longer works. You can close this page, and log in with the new password.")}</p>
<p><a class="button" href="${loginPath}">${say("Log in")}</a></p>`,
  });
}

/** The page of a link that does not work: the same for all reasons, so that it reveals nothing about accounts. */
export function deadResetLinkPage(): Page {
  return ({ say }) => ({
    title: say("The link does not work"),
    body: html`<p>${say("It is not complete, was used or replaced, is older than an hour, or is no longer valid. Ask your administrator for another one, and open it in one browser. Cookies must be allowed.")}</p>`,
  });
}

/** The page of what cannot be done at the moment. */
export function resetLaterPage(): Page {
  return ({ say }) => ({
    title: say("Try again"),
    body: html`<p>${say("The service could not complete the request. Open the link again in a few seconds.")}</p>`,
  });
}
