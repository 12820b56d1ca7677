import { type CallContext, ServiceError } from "svc-access/runtime";
import type { FormProblem } from "../login/interaction/interaction-pages.ts";
import { PASSKEY_SCRIPT } from "../login/interaction/passkey-script.ts";
import type { FormTokens } from "../pages/form-tokens.ts";
import { html } from "../pages/html.ts";
import type { MessageKey, Texts } from "../pages/texts.ts";
import { waitText } from "../pages/wait-text.ts";
import type { FailedAttempts } from "../people/accounts/throttle/failed-attempts.ts";
import type { Quota } from "../people/accounts/throttle/quota.ts";
import { appSecret, recoveryCodes } from "../people/factors/factor-forms.ts";
import type { Factors } from "../people/factors/factors.ts";
import { newTotpSecret } from "../people/factors/one-time-codes.ts";
import { newChallenge } from "../people/factors/passkeys.ts";
import type {
  AccountSection,
  AccountVisit,
  SectionForms,
  SectionResult,
} from "./account-section.ts";
import { type AppProblems, appForm, factorList, removalForm } from "./factor-pages.ts";

/** What the second factors of an account need. */
export interface FactorsSectionOptions {
  readonly factors: Factors;
  readonly forms: FormTokens;
  readonly attempts: Pick<FailedAttempts, "record">;
  /** Changes of an account, also those that fail. */
  readonly quota: Pick<Quota, "use">;
}

/** What a form of this section brings back. */
interface Pending {
  /** Of an app that is added. */
  readonly secret?: string;
  /** Of a passkey that is added. */
  readonly challenge?: string;
  /** The version of the recovery codes that are replaced. */
  readonly codes?: string;
}

/** The field with what a form brings back, besides the token of the section. */
const PENDING = "pending";
/** The same of the form of new recovery codes: a browser may bring it beside the other one. */
const FORMER_CODES = "former_codes";

/** The second factors of somebody, who adds and removes them. */
export class FactorsSection implements AccountSection {
  readonly name = "factors";
  readonly title = "Second factors";
  readonly needsFreshLogin = true;
  readonly messages: Readonly<Record<string, MessageKey>> = {
    added: "The factor was added.",
    known: "This app was added. If you have not seen your recovery codes, make new ones below.",
    removed: "The factor was removed.",
    codes_changed:
      "Your recovery codes have changed since the form was shown, and were not replaced again. If you have not kept the new ones, make others below.",
  };
  readonly #options: FactorsSectionOptions;

  constructor(options: FactorsSectionOptions) {
    this.#options = options;
  }

  async showAgain(
    visit: AccountVisit,
    form: URLSearchParams,
    problem: MessageKey,
  ): Promise<SectionForms> {
    if (form.get("action") !== "app") return this.show(visit, { text: problem });
    const { secret } = this.#pendingOf(visit, form);
    return secret === undefined
      ? this.#newApp(visit, EXPIRED_APP)
      : this.#appForm(visit, secret, { problem });
  }

  async show(visit: AccountVisit, problem?: FormProblem): Promise<SectionForms> {
    const { factors } = this.#options;
    const { account, timeZone, token } = visit;
    const challenge = newChallenge();
    const known = await factors.store.list(account.id);
    const codes = known.length === 0 ? undefined : await factors.store.codes(account.id);
    const body = factorList({
      known,
      timeZone,
      token,
      problem,
      codes: codes && {
        count: codes.count,
        field: FORMER_CODES,
        former: this.#seal(visit, { codes: codes.version }),
      },
      passkey: await factors.passkeys.creationOptions(account, challenge),
      pending: this.#seal(visit, { challenge }),
    });
    return { body, script: PASSKEY_SCRIPT };
  }

  async act(visit: AccountVisit, form: URLSearchParams): Promise<SectionResult> {
    const action = form.get("action");
    if (action === "new_app") return { status: 200, ...(await this.#newApp(visit)) };
    if (action === "ask_removal") return this.#askRemoval(visit, form.get("factor") ?? "");
    // Before anything is checked: an attempt counts whether it succeeds or not.
    const waitMs = await this.#options.quota.use(visit.account.id);
    if (waitMs !== undefined) return this.#slowed(visit, waitMs);
    switch (action) {
      case "app":
        return this.#addApp(visit, form);
      case "passkey":
        return this.#addPasskey(visit, form);
      case "codes":
        return this.#newCodes(visit, form);
      case "remove":
        return this.#remove(visit, form.get("factor") ?? "");
      default:
        throw new ServiceError("INVALID_ARGUMENT", "the form has no such action");
    }
  }

  async #addApp(visit: AccountVisit, form: URLSearchParams): Promise<SectionResult> {
    const { secret } = this.#pendingOf(visit, form);
    if (secret === undefined) return { status: 403, ...(await this.#newApp(visit, EXPIRED_APP)) };
    const { factors } = this.#options;
    const added = await factors.addApp(visit.visitor, secret, form.get("code") ?? "");
    if (added === "lost_owner") return LOGGED_OUT;
    // Such as after a double click, whose first answer, with the recovery codes, the browser did not show.
    if (added === "known") return { done: "known" };
    return added === undefined
      ? { status: 400, ...(await this.#appForm(visit, secret, { wrongCode: WRONG_CODE })) }
      : this.#added(visit, "totp", added.codes);
  }

  async #addPasskey(visit: AccountVisit, form: URLSearchParams): Promise<SectionResult> {
    const { challenge } = this.#pendingOf(visit, form);
    const response = form.get("passkey") ?? "";
    const { factors } = this.#options;
    const added = challenge && (await factors.addPasskey(visit.visitor, response, challenge));
    if (added === "lost_owner") return LOGGED_OUT;
    if (!added) {
      await this.#failed(visit, "passkey");
      return {
        status: 400,
        ...(await this.show(visit, { text: "The passkey was not accepted." })),
      };
    }
    return this.#added(visit, "passkey", added.codes);
  }

  async #slowed(visit: AccountVisit, waitMs: number): Promise<SectionResult> {
    await this.#failed(visit, "slowed");
    const seconds = Math.ceil(waitMs / 1000);
    const problem = waitText("There were too many attempts. Try again in {seconds} s.", seconds);
    const shown = await this.show(visit, problem);
    return { status: 429, ...shown, retryAfterSeconds: seconds };
  }

  #failed({ account, call }: AccountVisit, method: string): Promise<void> {
    return this.#options.attempts.record(call, {
      event: "second_factor.failed",
      riskLevel: "HIGH",
      accountId: account.id,
      details: { method },
    });
  }

  async #newCodes(visit: AccountVisit, form: URLSearchParams): Promise<SectionResult> {
    const { factors } = this.#options;
    const { account, call, visitor } = visit;
    const former = this.#pendingOf(visit, form, FORMER_CODES).codes;
    if (former === undefined) {
      const problem = "The form has expired. Send it again.";
      return { status: 403, ...(await this.show(visit, { text: problem })) };
    }
    const codes = await factors.newCodes(visitor, former);
    if (codes === "lost_owner") return LOGGED_OUT;
    // Such as after F5 on the page with the new codes, which may have been stored by then.
    if (codes === "changed") return { done: "codes_changed" };
    if (codes === undefined) {
      return { status: 400, ...(await this.show(visit, { text: "Add a second factor first." })) };
    }
    await record(call, "recovery_code.made", account.id);
    return codesPage(codes);
  }

  async #askRemoval(visit: AccountVisit, id: string): Promise<SectionResult> {
    const { factors } = this.#options;
    const { account, call, timeZone, token } = visit;
    const known = await factors.store.list(account.id);
    const factor = known.find((one) => one.id === id);
    // As an answer to who removes it twice.
    if (factor === undefined) return { done: "removed" };
    const isLast = known.length === 1;
    if (isLast && (await factors.isRequired(account.id, call.signal))) {
      return this.#requiredFactor(visit);
    }
    const title = "Remove this factor?";
    return { status: 200, title, body: removalForm({ factor, isLast, timeZone, token }) };
  }

  async #requiredFactor(visit: AccountVisit): Promise<SectionResult> {
    const problem = "Your account needs a second factor. Add another one first.";
    return { status: 409, ...(await this.show(visit, { text: problem })) };
  }

  async #remove(visit: AccountVisit, id: string): Promise<SectionResult> {
    const { account, call, visitor } = visit;
    const kind = await this.#options.factors.remove(id, visitor, call.signal);
    if (kind === "lost_owner") return LOGGED_OUT;
    if (kind === "required") return this.#requiredFactor(visit);
    if (kind !== undefined) await record(call, "second_factor.removed", account.id, kind);
    return { done: "removed" };
  }

  async #added(
    visit: AccountVisit,
    method: "totp" | "passkey",
    codes: readonly string[],
  ): Promise<SectionResult> {
    await record(visit.call, "second_factor.enrolled", visit.account.id, method);
    await visit.addedFactor([method === "totp" ? "otp" : "hwk", "mfa"]);
    return codes.length === 0 ? { done: "added" } : codesPage(codes);
  }

  #newApp(visit: AccountVisit, problem?: MessageKey): Promise<SectionForms> {
    return this.#appForm(visit, newTotpSecret(), { problem });
  }

  async #appForm(
    visit: AccountVisit,
    secret: string,
    problems: AppProblems,
  ): Promise<SectionForms> {
    const { factors } = this.#options;
    const shown = await appSecret(factors.issuer, visit.account.username, secret);
    const pending = this.#seal(visit, { secret });
    return { body: appForm({ shown, token: visit.token, pending, ...problems }) };
  }

  #seal({ visitor }: AccountVisit, pending: Pending): string {
    return this.#options.forms.issue(placeOf(visitor.browser), JSON.stringify(pending));
  }

  /** Empty if it was not shown in this browser, or too long ago. */
  #pendingOf({ visitor }: AccountVisit, form: URLSearchParams, field = PENDING): Pending {
    const data = this.#options.forms.dataOf(form, placeOf(visitor.browser), field);
    return data === undefined ? {} : JSON.parse(data);
  }
}

const LOGGED_OUT: SectionResult = { isLoggedOut: true };
const EXPIRED_APP: MessageKey =
  "The form has expired. Add the new key below to the app, and enter the code that it shows then.";
const WRONG_CODE: MessageKey =
  "The code is wrong. Check the clock of the device, and enter the next code.";

function codesPage(codes: readonly string[]): SectionResult {
  return {
    status: 200,
    body: (texts: Texts) => html`<h2>${texts.say("Your recovery codes")}</h2>
${recoveryCodes(texts, codes)}
<p><a class="button" href="?">${texts.say("I have kept the codes")}</a></p>`,
  };
}

function placeOf(browser: string) {
  return { form: "account/factors/pending", browser };
}

function record({ audit }: CallContext, event: string, accountId: string, method?: string) {
  return audit.record({
    event,
    riskLevel: "HIGH",
    resource: `user:${accountId}`,
    ...(method === undefined ? {} : { details: { method } }),
  });
}
