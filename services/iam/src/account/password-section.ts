import type { ChangeResult, PasswordChanges } from "../api/password/password-changes.ts";
import { recordChange } from "../api/password/record-change.ts";
import {
  type NewPasswordProblems,
  newPasswordFields,
  newPasswordProblems,
} from "../api/password/reset-pages.ts";
import { QueueFullError } from "../ground/queue/work-queue.ts";
import { field, formToken, problemBox, problemList } from "../pages/form-parts.ts";
import { html } from "../pages/html.ts";
import type { MessageKey, TextValues } from "../pages/texts.ts";
import { waitText } from "../pages/wait-text.ts";
import type { LocalAccounts } from "../people/accounts/local-accounts.ts";
import { type PasswordLogin, passwordsQueueFull } from "../people/accounts/password-login.ts";
import { repetitionOf } from "../people/accounts/repeated-form.ts";
import { retrySeconds } from "../people/accounts/throttle/retry-seconds.ts";
import type { UserSessions } from "../people/sessions/user-sessions.ts";
import type {
  AccountSection,
  AccountVisit,
  SectionBody,
  SectionForms,
  SectionResult,
} from "./account-section.ts";

/** What a change of the password needs. */
export interface PasswordSectionOptions {
  readonly changes: Pick<PasswordChanges, "change" | "check">;
  readonly logins: Pick<PasswordLogin, "authenticate">;
  readonly accounts: Pick<LocalAccounts, "find">;
  readonly sessions: Pick<UserSessions, "list">;
}

/** Why a change was refused as a whole. */
interface Refusal {
  readonly text: MessageKey;
  readonly values?: TextValues;
}

/** Why a change was refused, by field. */
interface PasswordProblems extends NewPasswordProblems {
  readonly current?: MessageKey;
}

/** Forms that are sent twice come soon after each other. */
const REPEATED_MS = 60_000;

/** The change of the own password. */
export class PasswordSection implements AccountSection {
  readonly name = "password";
  readonly title = "Password";
  readonly messages: Readonly<Record<string, MessageKey>> = {
    changed: "Your password was changed. All your other sessions have ended.",
  };
  readonly #options: PasswordSectionOptions;

  constructor(options: PasswordSectionOptions) {
    this.#options = options;
  }

  async show(visit: AccountVisit): Promise<SectionForms> {
    return { body: passwordForm(visit) };
  }

  async showAgain(
    visit: AccountVisit,
    _form: URLSearchParams,
    text: MessageKey,
  ): Promise<SectionForms> {
    return { body: passwordForm(visit, {}, { text }) };
  }

  async act(visit: AccountVisit, form: URLSearchParams): Promise<SectionResult> {
    const { account, visitor, call } = visit;
    const current = form.get("current") ?? "";
    const entered = { username: account.username, current };
    const problems = await newPasswordProblems(form, account);
    if (current === "") {
      const required: MessageKey = "The current password is required.";
      return { status: 400, body: passwordForm(visit, { ...problems, current: required }) };
    }
    const { changes, sessions } = this.#options;
    if (problems !== undefined) {
      const result = await changes.check(account.id, entered, call).catch(asBusy);
      if (result === undefined) return { status: 400, body: passwordForm(visit, problems) };
      await recordChange(result, account.id, call.audit);
      return this.#resultOf(result, visit, problems);
    }
    const session = (await sessions.list(account.id)).find(({ id }) => id === visitor.sessionId);
    const change = { ...entered, next: form.get("password") ?? "", session };
    const result = await changes.change(account.id, change, call).catch(asBusy);
    if (await this.#isRepeated(result, visit, change.next)) return { done: "changed" };
    await recordChange(result, account.id, call.audit);
    return this.#resultOf(result, visit);
  }

  /** Whether a form that was too late is the one that has changed the password, such as after a double click. */
  async #isRepeated(
    { outcome }: ChangeResult,
    { account: { id: accountId, username }, call }: AccountVisit,
    password: string,
  ): Promise<boolean> {
    if (outcome !== "wrong" && outcome !== "outdated") return false;
    const { accounts, logins } = this.#options;
    // Otherwise each wrong current password would count as two attempts.
    const { updateTime = 0 } = (await accounts.find(accountId)) ?? {};
    if (updateTime < Date.now() - REPEATED_MS) return false;
    const found = await repetitionOf({ accountId, username, password }, logins, call).catch(asBusy);
    return found.outcome === "same";
  }

  #resultOf(
    result: ChangeResult,
    visit: AccountVisit,
    problems: NewPasswordProblems = {},
  ): SectionResult {
    const refused = (status: number, refusal: Refusal) => ({
      status,
      body: passwordForm(visit, {}, refusal),
    });
    switch (result.outcome) {
      case "changed":
        return { done: "changed" };
      case "wrong":
        return {
          status: 400,
          body: passwordForm(visit, { ...problems, current: "The current password is wrong." }),
        };
      case "slowed": {
        const seconds = retrySeconds(result);
        const text = "There were too many failed attempts. Try again in {seconds} s.";
        return { ...refused(429, waitText(text, seconds)), retryAfterSeconds: seconds };
      }
      case "busy":
        return {
          ...refused(503, {
            text: "The service could not complete the request. Try again in a few seconds.",
          }),
          cause: passwordsQueueFull(),
        };
      case "outdated":
        return refused(409, { text: "The password was changed at the same time. Log in again." });
    }
  }
}

function passwordForm(
  { account, token }: AccountVisit,
  problems: PasswordProblems = {},
  refusal?: Refusal,
): SectionBody {
  return (texts) => {
    const { say } = texts;
    const next = newPasswordFields(texts, problems);
    const current = problems.current && say(problems.current);
    const found = current
      ? [{ name: "current", problem: current }, ...next.problems]
      : next.problems;
    return html`${refusal ? problemBox(say(refusal.text, refusal.values)) : problemList(found)}
<p>${say("All your other sessions end.")}</p>
<form method="post">
${formToken(token)}
${field({
  name: "username",
  label: say("User name"),
  autocomplete: "username",
  value: account.username,
  isReadOnly: true,
})}
${field({
  name: "current",
  label: say("Current password"),
  type: "password",
  autocomplete: "current-password",
  longest: 1024,
  problem: current || undefined,
})}
${next.fields}
<button type="submit">${say("Change the password")}</button>
</form>`;
  };
}

function asBusy(error: unknown): { readonly outcome: "busy" } {
  if (error instanceof QueueFullError) return { outcome: "busy" };
  throw error;
}
