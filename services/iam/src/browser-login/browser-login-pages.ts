import type { Principal } from "svc-access/runtime";
import { html } from "../pages/html.ts";
import type { Page } from "../pages/page.ts";
import { LOGIN_PATH, LOGOUT_PATH } from "./paths.ts";

/** The page of somebody who has logged in and named no other page. */
export function accountPage({ name, username, subjectId }: Principal): Page {
  return {
    title: "Logged in",
    body: html`<p>You are logged in as <strong>${name || username || subjectId}</strong>.</p>
<p><a href="${LOGOUT_PATH}">Log out</a></p>`,
  };
}

/** The page that asks before it ends a login. @param token of the form */
export function logoutPage({ name, username, subjectId }: Principal, token: string): Page {
  return {
    title: "Log out?",
    body: html`<p>You are logged in as <strong>${name || username || subjectId}</strong>.</p>
<form method="post" action="${LOGOUT_PATH}">
<input type="hidden" name="form_token" value="${token}">
<button type="submit">Log out</button>
</form>`,
  };
}

/** The page after a login has ended. */
export function loggedOutPage(): Page {
  return { title: "Logged out", body: html`${again("Log in")}` };
}

/** The page on the way to the identity provider, where the login ends too. @param next its address */
export function leavingPage(next: string): Page {
  return {
    title: "Logged out here",
    body: html`<p><a href="${next}">Log out at the identity provider, too</a></p>`,
  };
}

/** The page of a login that did not succeed. */
export function failedLoginPage(problem: string): Page {
  return {
    title: "The login did not succeed",
    body: html`<p>${problem}</p>${again("Log in again")}`,
  };
}

/** The page of a return address that a login does not lead to. */
export function badReturnPage(): Page {
  return {
    title: "The address of the login is not valid",
    body: html`<p><code>return_to</code> must be a path of this site.</p>${again("Log in without it")}`,
  };
}

function again(text: string) {
  return html`<p><a href="${LOGIN_PATH}">${text}</a></p>`;
}
