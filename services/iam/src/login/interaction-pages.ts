import { FORM_TOKEN } from "../pages/form-tokens.ts";
import { html } from "../pages/html.ts";
import type { Page } from "../pages/page.ts";

/** The page on which people enter their password. */
export function loginPage(form: {
  /** The name of the client. */
  readonly client: string;
  /** What was entered before. */
  readonly username: string;
  /** Why it did not succeed. */
  readonly problem: string | undefined;
  readonly leadsTo: string | undefined;
  /** Of `FormTokens`. */
  readonly token: string;
}): Page {
  return {
    title: "Log in",
    leadsTo: form.leadsTo,
    body: html`<p>to continue to ${form.client}</p>
${problemOf(form)}
<form method="post">
<input type="hidden" name="${FORM_TOKEN}" value="${form.token}">
<p><label>User name <input name="username" autocomplete="username" required maxlength="256" value="${form.username}"></label></p>
<p><label>Password <input name="password" type="password" autocomplete="current-password" required maxlength="1024"></label></p>
<button type="submit" name="action" value="login">Log in</button>
<button type="submit" name="action" value="cancel" formnovalidate>Cancel</button>
</form>`,
  };
}

/** What the scopes give a client. */
const SCOPE_TEXTS: Readonly<Record<string, string>> = {
  openid: "your user id",
  profile: "your name, user name and organization",
  email: "your e-mail address",
  offline_access: "access while you are not there",
};

/** The page on which people let a client act for them. */
export function consentPage(form: {
  readonly client: string;
  readonly username: string;
  readonly scopes: readonly string[];
  /** Why it was not accepted before. */
  readonly problem: string | undefined;
  readonly leadsTo: string | undefined;
  /** Of `FormTokens`. */
  readonly token: string;
}): Page {
  return {
    title: "Allow access?",
    leadsTo: form.leadsTo,
    body: html`<p><strong>${form.client}</strong> asks ${form.username} for:</p>
<ul>
${form.scopes.map((scope) => html`<li>${SCOPE_TEXTS[scope] ?? scope}</li>`)}
</ul>
${problemOf(form)}
<form method="post">
<input type="hidden" name="${FORM_TOKEN}" value="${form.token}">
<button type="submit" name="action" value="consent">Allow</button>
<button type="submit" name="action" value="cancel">Refuse</button>
</form>`,
  };
}

/** The page of a login that has expired, or began in another browser. */
export function expiredPage(): Page {
  return {
    title: "The login has expired",
    body: html`<p>Go back to where you came from, and log in again. Cookies must be allowed.</p>`,
  };
}

/** The page of what this version does not do. */
export function unimplementedPage(what: string): Page {
  return { title: "Unimplemented", body: html`<p>unimplemented: ${what}</p>` };
}

function problemOf({ problem }: { readonly problem: string | undefined }) {
  return problem === undefined ? undefined : html`<p role="alert">${problem}</p>`;
}
