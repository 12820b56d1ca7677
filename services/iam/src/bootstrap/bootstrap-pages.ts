import { type Field, type FieldProblem, field, problemList } from "../pages/form-parts.ts";
import { html, isolated } from "../pages/html.ts";
import type { Page } from "../pages/page.ts";
import type { MessageKey } from "../pages/texts.ts";

/** What a person enters about the first user. */
export interface FirstUserFields {
  readonly username: string;
  readonly displayName: string;
  readonly email: string;
}

/** Why the fields cannot be accepted, by their names. */
export type FieldProblems = Readonly<Record<string, string>>;

/** A field of the form, and the sentence about its problem. */
type FirstUserField = Omit<Field, "label"> & {
  readonly label: MessageKey;
  readonly wrong: MessageKey;
};

const PASSWORD = { type: "password", autocomplete: "new-password", longest: 512 } as const;

function fieldsOf({ username, displayName, email }: FirstUserFields): readonly FirstUserField[] {
  return [
    {
      name: "username",
      label: "User name",
      wrong: "The user name {problem}.",
      autocomplete: "username",
      longest: 64,
      value: username,
    },
    {
      name: "display_name",
      label: "Name",
      wrong: "The name {problem}.",
      autocomplete: "name",
      longest: 128,
      value: displayName,
    },
    {
      name: "email",
      label: "E-mail address",
      wrong: "The e-mail address {problem}.",
      type: "email",
      autocomplete: "email",
      longest: 254,
      value: email,
    },
    {
      ...PASSWORD,
      name: "password",
      label: "Password",
      wrong: "The password {problem}.",
      shortest: 12,
    },
    {
      ...PASSWORD,
      name: "repeated",
      label: "The password again",
      wrong: "The second password {problem}.",
    },
  ];
}

/** The form of the first user. */
export function firstUserPage(form: {
  readonly zone: string;
  readonly token: string;
  readonly fields: FirstUserFields;
  readonly problems: FieldProblems;
}): Page {
  const { zone, token, problems } = form;
  return ({ say, translate }) => {
    const fields = fieldsOf(form.fields).map(({ label, wrong, ...rest }) => {
      const problem = problems[rest.name];
      return {
        ...rest,
        label: say(label),
        hint: rest.name === "password" ? say("At least 12 characters") : undefined,
        problem: problem === undefined ? undefined : say(wrong, { problem: translate(problem) }),
      };
    });
    const found = fields.filter(
      (one): one is typeof one & FieldProblem => one.problem !== undefined,
    );
    return {
      title: say("The first user of {zone}", { zone }),
      isProblem: found.length > 0,
      body: html`${problemList(found)}
<p>${say("You become the owner of {zone}: you manage its users, groups and permissions.", { zone: html`<strong>${zone}</strong>` })}</p>
<form method="post" action="?">
<input type="hidden" name="token" value="${token}">
${fields.map(field)}
<button type="submit">${say("Create the user")}</button>
</form>`,
    };
  };
}

/** The page before a login by which somebody becomes the owner. */
export function firstLoginPage(form: { readonly zone: string; readonly loginUrl: string }): Page {
  const { zone, loginUrl } = form;
  return ({ say }) => ({
    title: say("The first owner of {zone}", { zone }),
    body: html`<p>${say("Whoever logs in now becomes the owner of {zone}, and manages its users, groups and permissions.", { zone: html`<strong>${zone}</strong>` })}</p>
<p><a class="button" href="${loginUrl}" rel="noreferrer">${say("Log in")}</a></p>`,
  });
}

/** Who has become an owner. */
export interface NewOwner {
  readonly zone: string;
  readonly name: string;
}

/**
 * The page of success.
 *
 * @param loginPath where the owner logs in, if it is here
 */
export function ownerPage(owner: NewOwner, loginPath?: string): Page {
  const name = html`<strong>${isolated(owner.name)}</strong>`;
  const zone = html`<strong>${owner.zone}</strong>`;
  return ({ say }) => ({
    title: say("{zone} has an owner", { zone: owner.zone }),
    body: html`<p>${say("{name} owns {zone}. The link no longer works. You can close this page, and log in.", { name, zone })}</p>
${loginPath && html`<p><a class="button" href="${loginPath}">${say("Log in")}</a></p>`}`,
  });
}

/** The page of a link that does not work: it does not say why, which only its owner needs to know. */
export function deadLinkPage(): Page {
  const command = html`<code>svc-iam bootstrap</code>`;
  return ({ say }) => ({
    title: say("The link does not work"),
    body: html`<p>${say("It is not complete, was used, or is older than 30 minutes. If there is no owner yet, make another one with {command}. If there is one, log in.", { command })}</p>`,
  });
}

/**
 * The page of a zone that has an owner.
 *
 * @param loginPath where people log in, if that is here
 */
export function ownedPage(zone: string, loginPath?: string): Page {
  return ({ say }) => ({
    title: say("{zone} already has an owner", { zone }),
    body: html`<p>${say("The link no longer works. Log in, or ask an owner of {zone} for the permissions that you need.", { zone: html`<strong>${zone}</strong>` })}</p>
${loginPath && html`<p><a class="button" href="${loginPath}">${say("Log in")}</a></p>`}`,
  });
}

/** The page of a login that was not completed. */
export function failedLoginPage(): Page {
  return ({ say }) => ({
    title: say("The login was not completed"),
    body: html`<p>${say("Open the link again, in this browser, and log in. Cookies must be allowed.")}</p>`,
  });
}

/** The page of a form that another site has sent. */
export function otherSitePage(): Page {
  return ({ say }) => ({
    title: say("The form comes from another site"),
    body: html`<p>${say("Open the link itself, and send the form from there.")}</p>`,
  });
}

/** The page of what cannot be done at the moment. */
export function laterPage(): Page {
  return ({ say }) => ({
    title: say("Try again"),
    body: html`<p>${say("The service could not complete the request. Open the link again in a few seconds: nothing is lost.")}</p>`,
  });
}
