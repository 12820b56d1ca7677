import { OWN_ACCOUNT_PATH } from "../../config/provider-paths.ts";
import { field, formToken, problemBox } from "../../pages/form-parts.ts";
import { type Html, html, isolated } from "../../pages/html.ts";
import type { Page } from "../../pages/page.ts";
import type { MessageKey, Texts, TextValues } from "../../pages/texts.ts";
import { passkeyForm } from "../../people/factors/factor-forms.ts";
import type { LoginStart } from "./completed-logins.ts";
import { PASSKEY_SCRIPT } from "./passkey-script.ts";

/** Why a form was not accepted. */
export interface FormProblem {
  readonly text: MessageKey;
  readonly values?: TextValues;
}

/** What the pages of a login have in common. */
export interface InteractionForm {
  /** The name of the client. */
  readonly client: string;
  /** Why it was not accepted before. */
  readonly problem: FormProblem | undefined;
  readonly leadsTo: string | undefined;
  /** Of `FormTokens`. */
  readonly token: string;
}

/** The page on which people enter their password. */
export function loginPage(
  form: InteractionForm & {
    readonly username: string;
    /** Whether the person is logged in, but for too long. */
    readonly isAgain: boolean;
    /** The options of a passkey in place of the password, where there are passkeys. */
    readonly passkey?: object | undefined;
  },
): Page {
  return (texts) => {
    const { say } = texts;
    return {
      ...(form.isAgain ? { title: say("Confirm that it is you") } : { title: say("Log in") }),
      leadsTo: form.leadsTo,
      isProblem: form.problem !== undefined,
      ...(form.passkey === undefined ? {} : { script: PASSKEY_SCRIPT }),
      body: html`<p>${say("to continue to {client}", { client: isolated(form.client) })}</p>
${form.isAgain ? html`<p>${say("You are logged in, but for too long for this. Log in again.")}</p>` : undefined}
${summary(texts, form)}
<form method="post">
${formToken(form.token)}
${field({
  name: "username",
  label: say("User name"),
  autocomplete: "username",
  longest: 256,
  value: form.username,
  isFirst: form.problem === undefined && form.username === "",
})}
${field({
  name: "password",
  label: say("Password"),
  type: "password",
  autocomplete: "current-password",
  longest: 1024,
  isFirst: form.problem === undefined && form.username !== "",
})}
<button type="submit" name="action" value="login">${say("Log in")}</button>
<button class="second" type="submit" name="action" value="cancel" formnovalidate>${say("Cancel")}</button>
</form>
${
  form.passkey &&
  passkeyForm(texts, {
    options: form.passkey,
    token: form.token,
    action: "passkey",
    button: "Log in with a passkey",
  })
}`,
    };
  };
}

/** What each client learns. */
const ALWAYS = "openid";
/** What the scopes tell a client of the person. What its tokens can do at services does not depend on them. */
const SCOPE_TEXTS: Readonly<Record<string, MessageKey>> = {
  openid: "your user id",
  profile: "your name, user name and organization",
  email: "your e-mail address",
};

/** The page on which people let a client act for them. */
export function consentPage(
  form: InteractionForm & { readonly username: string; readonly scopes: readonly string[] },
): Page {
  return (texts) => {
    const { say } = texts;
    const client = html`<strong>${isolated(form.client)}</strong>`;
    const username = isolated(form.username);
    // Not `offline_access`: all clients get refresh tokens, whether they ask for it or not.
    const told = [...new Set([ALWAYS, ...form.scopes])].flatMap(
      (scope) => SCOPE_TEXTS[scope] ?? [],
    );
    return {
      title: say("Allow access?"),
      leadsTo: form.leadsTo,
      isProblem: form.problem !== undefined,
      body: html`<p>${say("{client} asks {username} for:", { client, username })}</p>
<ul>
${told.map((text) => html`<li>${say(text)}</li>`)}
</ul>
<p>${say("{client} stays logged in while you are away, until this login ends.", { client })}</p>
<p>${say("At the services that accept {client}, it acts as you: it may do there all that you may do.", { client })}</p>
${summary(texts, form)}
<form method="post">
${formToken(form.token)}
<button type="submit" name="action" value="consent">${say("Allow")}</button>
<button class="second" type="submit" name="action" value="cancel">${say("Refuse")}</button>
</form>`,
    };
  };
}

/**
 * The page of a login that has expired, or began in another browser.
 *
 * @param start where it can begin again, if that is known
 */
export function expiredPage(start?: LoginStart): Page {
  return (texts) => ({
    title: texts.say("The login has expired"),
    body: html`<p>${texts.say("Go back to where you came from, and log in again. Cookies must be allowed.")}</p>
${links(texts, start)}`,
  });
}

/** The page of a login that its browser has completed before. @param start where the person goes on, if that is known */
export function completedPage(start: LoginStart | undefined): Page {
  return (texts) => ({
    title: texts.say("You are already logged in"),
    body: html`<p>${texts.say("This login is complete.")}</p>
${links(texts, start)}`,
  });
}

/** Where people go from the page of a login that is over. */
function links({ say }: Texts, start: LoginStart | undefined): Html {
  const own = html`<a class="button second" href="${OWN_ACCOUNT_PATH}">${say("Your account")}</a>`;
  if (start === undefined || start.url === OWN_ACCOUNT_PATH) return html`<p>${own}</p>`;
  return html`<p><a class="button" href="${start.url}" rel="noreferrer">${say("Continue to {client}", { client: isolated(start.client) })}</a>
${own}</p>`;
}

/** The page of what this version does not do. @param what as in the protocol, such as `prompt=create` */
export function unimplementedPage(what: string): Page {
  return ({ say }) => ({
    title: say("Not available"),
    body: html`<p>${say("The service does not have this: {what}", { what: html`<code>${what}</code>` })}</p>`,
  });
}

/** The summary of a problem. */
export function summary({ say }: Texts, { problem }: InteractionForm): Html | undefined {
  return problemBox(problem && say(problem.text, problem.values));
}
