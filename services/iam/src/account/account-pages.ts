import { OWN_ACCOUNT_PATH, PROVIDER_PATH } from "../config/provider-paths.ts";
import { doneBox } from "../pages/form-parts.ts";
import { type Html, html } from "../pages/html.ts";
import type { Page } from "../pages/page.ts";
import type { MessageKey } from "../pages/texts.ts";
import type { AccountSection, SectionBody } from "./account-section.ts";

/** The path of a section. */
export function sectionPath({ name }: Pick<AccountSection, "name">): string {
  return name === "" ? OWN_ACCOUNT_PATH : `${OWN_ACCOUNT_PATH}/${name}`;
}

/** The page of a section. */
export function sectionPage(shown: {
  readonly section: AccountSection;
  readonly sections: readonly AccountSection[];
  /** That of the section if absent. */
  readonly title?: MessageKey | undefined;
  readonly body: SectionBody;
  /** What was done. */
  readonly message?: MessageKey | undefined;
  readonly isProblem?: boolean;
  readonly script?: string | undefined;
}): Page {
  const { section, sections, body, message, isProblem = false, script } = shown;
  const heading = shown.title ?? section.title;
  return (texts) => {
    const { say } = texts;
    const links = sections.map((one): Html => {
      const isCurrent = one === section;
      return html`<li><a href="${sectionPath(one)}"${isCurrent ? html` aria-current="page"` : undefined}>${say(one.title)}</a></li>`;
    });
    return {
      title: say(heading),
      isProblem,
      ...(script === undefined ? {} : { script }),
      navigation: html`<nav aria-label="${say("Your account")}"><ul>
${links}
<li><a href="${PROVIDER_PATH}/session/end">${say("Log out")}</a></li>
</ul></nav>`,
      body: html`${doneBox(message && say(message))}
${body(texts)}`,
    };
  };
}

/** The page after a login that was cancelled. */
export function notLoggedInPage(): Page {
  return ({ say }) => ({
    title: say("You are not logged in"),
    body: html`<p><a class="button" href="${OWN_ACCOUNT_PATH}">${say("Log in again")}</a></p>`,
  });
}

/** The page after a form whose login has ended. @param path of the section with the form */
export function notSavedPage(path: string): Page {
  return ({ say }) => ({
    title: say("Your login has ended"),
    isProblem: true,
    body: html`<p>${say("What you sent was not done. Log in again, and repeat it.")}</p>
<p><a class="button" href="${path}">${say("Log in again")}</a></p>`,
  });
}
