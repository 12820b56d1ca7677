import type { FormProblem } from "../login/interaction/interaction-pages.ts";
import { field, formToken, problemBox, problemList } from "../pages/form-parts.ts";
import { type Html, html } from "../pages/html.ts";
import type { MessageKey, Texts } from "../pages/texts.ts";
import { passkeyForm } from "../people/factors/factor-forms.ts";
import type { SecondFactor } from "../people/factors/factor-store.ts";
import type { SectionBody } from "./account-section.ts";

const KINDS: Readonly<Record<SecondFactor["kind"], MessageKey>> = {
  totp: "Authenticator app",
  passkey: "Passkey",
};

/** What the page says of the recovery codes. */
export interface ShownCodes {
  /** How many are left. */
  readonly count: number;
  /** The field by which the form of new ones brings back which ones it replaces. */
  readonly field: string;
  readonly former: string;
}

/** The list of second factors, with the forms that change it. */
export function factorList(list: {
  readonly known: readonly SecondFactor[];
  /** The recovery codes; undefined without a factor. */
  readonly codes: ShownCodes | undefined;
  readonly timeZone: string;
  readonly token: string;
  readonly problem: FormProblem | undefined;
  /** The options of a new passkey. */
  readonly passkey: object;
  /** What the form of the passkey brings back. */
  readonly pending: string;
}): SectionBody {
  const { known, codes, timeZone, token, problem, passkey, pending } = list;
  return (texts) => {
    const { say } = texts;
    const item = ({ id, kind, ...times }: SecondFactor): Html => html`<li>
<p id="factor-${id}"><strong>${say(KINDS[kind])}</strong><br>
${timesOf(texts, times, timeZone)}</p>
<form method="post">
${formToken(token)}
<input type="hidden" name="factor" value="${id}">
<button class="danger" type="submit" name="action" value="ask_removal" aria-describedby="factor-${id}">${say("Remove")}</button>
</form>
</li>`;
    return html`${problemBox(problem && say(problem.text, problem.values))}
<p>${say("With a second factor, your password alone is not enough to log in.")}</p>
${known.length === 0 ? undefined : html`<ul class="list">\n${known.map(item)}\n</ul>`}
<h2>${say("Add a factor")}</h2>
${button(texts, token, "new_app", "Add an authenticator app")}
${passkeyForm(texts, { options: passkey, token, pending, action: "passkey", button: "Add a passkey" })}
${
  codes === undefined
    ? undefined
    : html`<h2>${say("Recovery codes")}</h2>
<p>${say("You have {count} codes that were not used.", { count: codes.count })}</p>
<p id="new-codes">${say("When you make new recovery codes, the former ones no longer work.")}</p>
<form method="post">
${formToken(token)}
<input type="hidden" name="${codes.field}" value="${codes.former}">
<button class="second" type="submit" name="action" value="codes" aria-describedby="new-codes">${say("Make new recovery codes")}</button>
</form>`
}`;
  };
}

/** The question before a factor is removed. */
export function removalForm(form: {
  readonly factor: SecondFactor;
  readonly isLast: boolean;
  readonly timeZone: string;
  readonly token: string;
}): SectionBody {
  const { factor, isLast, timeZone, token } = form;
  const effect: MessageKey = isLast
    ? "It is your last factor. Without it, your password alone is enough to log in, and your recovery codes no longer work."
    : "You can no longer log in with it. Your other factors and your recovery codes remain.";
  return (texts) => {
    const { say } = texts;
    return html`<p><strong>${say(KINDS[factor.kind])}</strong><br>
${timesOf(texts, factor, timeZone)}</p>
<p id="effect">${say(effect)}</p>
<form method="post">
${formToken(token)}
<input type="hidden" name="factor" value="${factor.id}">
<button class="danger" type="submit" name="action" value="remove" aria-describedby="effect">${say("Remove")}</button>
<a class="button second" href="?">${say("Keep it")}</a>
</form>`;
  };
}

/** What tells factors of one kind apart. */
function timesOf(
  { say, date }: Texts,
  { createTime, useTime }: Pick<SecondFactor, "createTime" | "useTime">,
  timeZone: string,
): Html {
  return html`<span class="quiet">${say("Since {time}", { time: date(createTime, timeZone) })}${useTime === undefined ? undefined : html`<br>${say("Last used {time}", { time: date(useTime, timeZone) })}`}</span>`;
}

/** Why the form of a new app was not accepted. */
export interface AppProblems {
  /** As a whole. */
  readonly problem?: MessageKey | undefined;
  readonly wrongCode?: MessageKey | undefined;
}

/** The form of a new app. */
export function appForm(
  form: {
    readonly shown: (texts: Texts) => Html;
    readonly token: string;
    readonly pending: string;
  } & AppProblems,
): SectionBody {
  return (texts) => {
    const { say } = texts;
    const wrongCode = form.wrongCode && say(form.wrongCode);
    return html`${problemBox(form.problem && say(form.problem))}
${problemList(wrongCode ? [{ name: "code", problem: wrongCode }] : [])}
<h2>${say("Add an authenticator app")}</h2>
${form.shown(texts)}
<form method="post">
${formToken(form.token)}
<input type="hidden" name="pending" value="${form.pending}">
${field({
  name: "code",
  label: say("Code"),
  autocomplete: "one-time-code",
  mode: "numeric",
  longest: 16,
  problem: wrongCode || undefined,
})}
<button type="submit" name="action" value="app">${say("Continue")}</button>
<a class="button second" href="?">${say("Cancel")}</a>
</form>`;
  };
}

function button({ say }: Texts, token: string, action: string, text: MessageKey): Html {
  return html`<form method="post">
${formToken(token)}
<button class="second" type="submit" name="action" value="${action}">${say(text)}</button>
</form>`;
}
