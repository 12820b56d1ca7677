import { type Html, html } from "../pages/html.ts";
import type { Page } from "../pages/page.ts";

/** What a person enters about the first user. */
export interface FirstUserFields {
  readonly username: string;
  readonly displayName: string;
  readonly email: string;
}

/** Why the fields cannot be accepted, by their names. */
export type FieldProblems = Readonly<Record<string, string>>;

/** The form of the first user. */
export function firstUserPage(form: {
  readonly zone: string;
  readonly token: string;
  readonly fields: FirstUserFields;
  readonly problems: FieldProblems;
}): Page {
  const { zone, token, fields, problems } = form;
  const problem = (name: string, label: string): Html | undefined =>
    problems[name] === undefined
      ? undefined
      : html`<p role="alert">${label} ${problems[name]}.</p>`;
  return {
    title: `The first user of ${zone}`,
    body: html`<p>You become the owner of <strong>${zone}</strong>: you manage its users, groups and permissions.</p>
<form method="post" action="?">
<input type="hidden" name="token" value="${token}">
${problem("username", "The user name")}
<p><label>User name <input name="username" autocomplete="username" required maxlength="64" value="${fields.username}"></label></p>
${problem("display_name", "The name")}
<p><label>Name <input name="display_name" autocomplete="name" required maxlength="128" value="${fields.displayName}"></label></p>
${problem("email", "The e-mail address")}
<p><label>E-mail address <input name="email" type="email" autocomplete="email" required maxlength="254" value="${fields.email}"></label></p>
${problem("password", "The password")}
<p><label>Password, at least 12 characters <input name="password" type="password" autocomplete="new-password" required minlength="12" maxlength="512"></label></p>
${problem("repeated", "The second password")}
<p><label>The password again <input name="repeated" type="password" autocomplete="new-password" required maxlength="512"></label></p>
<button type="submit">Create the user</button>
</form>`,
  };
}

/** The page before a login by which somebody becomes the owner. */
export function firstLoginPage(form: { readonly zone: string; readonly loginUrl: string }): Page {
  return {
    title: `The first owner of ${form.zone}`,
    body: html`<p>Whoever logs in now becomes the owner of <strong>${form.zone}</strong>, and manages its users, groups and permissions.</p>
<p><a href="${form.loginUrl}" rel="noreferrer">Log in</a></p>`,
  };
}

/** The page of success. */
export function ownerPage(owner: { readonly zone: string; readonly name: string }): Page {
  return {
    title: `${owner.zone} has an owner`,
    body: html`<p><strong>${owner.name}</strong> owns <strong>${owner.zone}</strong>. The link no longer works. You can close this page, and log in.</p>`,
  };
}

/** The page of a link that does not work: it does not say why, which only its owner needs to know. */
export function deadLinkPage(): Page {
  return {
    title: "The link does not work",
    body: html`<p>It is not complete, was used, or is older than 30 minutes. Make another one with <code>svc-iam bootstrap</code>.</p>`,
  };
}

/** The page of a zone that has an owner. */
export function ownedPage(zone: string): Page {
  return {
    title: `${zone} already has an owner`,
    body: html`<p>The link no longer works. Ask an owner of <strong>${zone}</strong> for the permissions that you need.</p>`,
  };
}

/** The page of a login that was not completed. */
export function failedLoginPage(): Page {
  return {
    title: "The login was not completed",
    body: html`<p>Open the link again, in this browser, and log in. Cookies must be allowed.</p>`,
  };
}

/** The page of a form that another site has sent. */
export function otherSitePage(): Page {
  return {
    title: "The form comes from another site",
    body: html`<p>Open the link itself, and send the form from there.</p>`,
  };
}

/** The page of what cannot be done at the moment. */
export function laterPage(): Page {
  return {
    title: "Try again",
    body: html`<p>The service could not complete the request. Open the link again in a few seconds: nothing is lost.</p>`,
  };
}
