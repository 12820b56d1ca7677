import { FORM_TOKEN } from "../pages/form-tokens.ts";
import { html } from "../pages/html.ts";
import type { Page } from "../pages/page.ts";
import { RESET_PATH } from "./reset-path.ts";

/** The form of a new password. */
export function resetPage(form: {
  readonly username: string;
  /** Why the password was not accepted. */
  readonly problem: string | undefined;
  /** Of `FormTokens`. */
  readonly token: string;
}): Page {
  return {
    title: "Set a new password",
    body: html`<p>The new password is for <strong>${form.username}</strong>. You are logged out everywhere then.</p>
${form.problem === undefined ? undefined : html`<p role="alert">${form.problem}</p>`}
<form method="post" action="${RESET_PATH}">
<input type="hidden" name="${FORM_TOKEN}" value="${form.token}">
<p><label>User name <input name="username" autocomplete="username" readonly value="${form.username}"></label></p>
<p><label>New password, at least 12 characters <input name="password" type="password" autocomplete="new-password" required minlength="12" maxlength="512"></label></p>
<p><label>The new password again <input name="repeated" type="password" autocomplete="new-password" required maxlength="512"></label></p>
<button type="submit">Set the password</button>
</form>`,
  };
}

/** The page of success. */
export function passwordSetPage(): Page {
  return {
    title: "The password was set",
    body: html`<p>The link no longer works. You can close this page, and log in with the new password.</p>`,
  };
}

/** The page of a link that does not work: the same for all reasons, so that it tells nothing of accounts. */
export function deadResetLinkPage(): Page {
  return {
    title: "The link does not work",
    body: html`<p>It is not complete, was used or replaced, is older than an hour, or is no longer valid. Ask your administrator for another one, and open it in one browser. Cookies must be allowed.</p>`,
  };
}

/** The page of what cannot be done at the moment. */
export function resetLaterPage(): Page {
  return {
    title: "Try again",
    body: html`<p>The service could not complete the request. Open the link again in a few seconds.</p>`,
  };
}
