import type { Principal } from "svc-access/runtime";
import { formToken } from "../../pages/form-parts.ts";
import { html, isolated } from "../../pages/html.ts";
import type { Page } from "../../pages/page.ts";
import type { MessageKey, Texts } from "../../pages/texts.ts";
import { ACCOUNT_PATH, LOGIN_PATH, LOGOUT_PATH } from "./paths.ts";

/** Somebody who is logged in. */
type Person = Pick<Principal, "name" | "username" | "subjectId">;

/** The page of somebody who has logged in and named no other page. @param ownAccount the path of the pages of the account, where it is here */
export function accountPage(person: Person, ownAccount: string | undefined): Page {
  return (texts) => ({
    title: texts.say("Logged in"),
    body: html`${who(texts, person)}
${ownAccount && html`<a class="button" href="${ownAccount}">${texts.say("Your account")}</a>`}
<a class="button second" href="${LOGOUT_PATH}">${texts.say("Log out")}</a>`,
  });
}

/** The page that asks before it ends a login. @param token of the form */
export function logoutPage(person: Person, token: string): Page {
  return (texts) => ({
    title: texts.say("Log out?"),
    body: html`${who(texts, person)}
<form method="post" action="${LOGOUT_PATH}">
${formToken(token)}
<button type="submit">${texts.say("Log out")}</button>
<a class="button second" href="${ACCOUNT_PATH}">${texts.say("Stay logged in")}</a>
</form>`,
  });
}

/** The page after a login has ended. */
export function loggedOutPage(): Page {
  return ({ say }) => ({ title: say("Logged out"), body: again(say("Log in")) });
}

/** The page on the way to the identity provider, where the login ends too. @param next its address */
export function leavingPage(next: string): Page {
  return ({ say }) => ({
    title: say("Logged out here"),
    body: html`<p>${say("You are still logged in at the identity provider.")}</p>
<p><a class="button" href="${next}">${say("Log out at the identity provider, too")}</a></p>`,
  });
}

/** The page of a login that did not succeed. */
export function failedLoginPage(problem: MessageKey): Page {
  return ({ say }) => ({
    title: say("The login did not succeed"),
    body: html`<p>${say(problem)}</p>${again(say("Log in again"))}`,
  });
}

/** The page of a return address that a login does not lead to. */
export function badReturnPage(): Page {
  return ({ say }) => ({
    title: say("The address of the login is not valid"),
    body: html`<p>${say("{parameter} must be a path of this site.", { parameter: html`<code>return_to</code>` })}</p>${again(say("Log in without it"))}`,
  });
}

function who({ say }: Texts, { name, username, subjectId }: Person) {
  const person = html`<strong>${isolated(name || username || subjectId)}</strong>`;
  return html`<p>${say("You are logged in as {person}.", { person })}</p>`;
}

function again(text: ReturnType<Texts["say"]>) {
  return html`<p><a class="button" href="${LOGIN_PATH}">${text}</a></p>`;
}
