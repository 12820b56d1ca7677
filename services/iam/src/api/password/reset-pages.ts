import { field, formToken, problemBox } from "../../pages/form-parts.ts";
import { html } from "../../pages/html.ts";
import type { Page } from "../../pages/page.ts";
import type { Texts } from "../../pages/texts.ts";

/** The path of the links by which new passwords are set. */
export const RESET_PATH = "/v1/iam/ui/password-reset";

/** Why a new password was not accepted. */
export type NewPasswordProblem =
  /** The rest of a sentence about the password. */
  | { readonly field: "password"; readonly problem: string }
  /** The two are not the same. */
  | { readonly field: "repeated" };

/** The fields of a new password. */
export function newPasswordFields(
  { say, translate }: Texts,
  problem: NewPasswordProblem | undefined,
) {
  const wrong =
    problem?.field === "password"
      ? say("The password {problem}.", { problem: translate(problem.problem) })
      : undefined;
  const other =
    problem?.field === "repeated" ? say("The second password is another one.") : undefined;
  const rules = { type: "password", autocomplete: "new-password", longest: 512 } as const;
  return {
    summary: problemBox(wrong ?? other),
    fields: html`${field({
      ...rules,
      name: "password",
      label: say("New password"),
      hint: say("At least 12 characters"),
      problem: wrong,
      shortest: 12,
    })}
${field({ ...rules, name: "repeated", label: say("The new password again"), problem: other })}`,
  };
}

/** The form of a new password. */
export function resetPage(form: {
  readonly username: string;
  readonly problem: NewPasswordProblem | undefined;
  /** Of `FormTokens`. */
  readonly token: string;
}): Page {
  return (texts) => {
    const { say } = texts;
    const { summary, fields } = newPasswordFields(texts, form.problem);
    const username = html`<strong>${form.username}</strong>`;
    return {
      title: say("Set a new password"),
      isProblem: form.problem !== undefined,
      body: html`${summary}
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

/** The page of success. */
export function passwordSetPage(): Page {
  return ({ say }) => ({
    title: say("The password was set"),
    body: html`<p>${say("The link no longer works. You can close this page, and log in with the new password.")}</p>`,
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
