import {
  type CallContext,
  type RawHandler,
  type RawRequest,
  type RawResponse,
  ServiceError,
} from "svc-access/runtime";
import { pageChoiceOf } from "../api/me/page-choice.ts";
import type { CurrentPreferences } from "../api/me/user-preferences.ts";
import { OWN_ACCOUNT_PATH } from "../config/provider-paths.ts";
import { foreignFormPage } from "../pages/error-pages.ts";
import type { FormTokens } from "../pages/form-tokens.ts";
import { personOf } from "../pages/page-choices.ts";
import type { PageDesign } from "../pages/page-design.ts";
import type { PageView } from "../pages/page-view.ts";
import { redirectResponse } from "../pages/redirect-response.ts";
import { formFields, isFromAnotherSite } from "../pages/sent-forms.ts";
import { type MessageKey, Texts } from "../pages/texts.ts";
import type { LocalAccounts } from "../people/accounts/local-accounts.ts";
import type { Visitors } from "../people/sessions/visitors.ts";
import { requestError } from "../provider/embedded/request/provider-failure.ts";
import { notLoggedInPage, notSavedPage, sectionPage, sectionPath } from "./account-pages.ts";
import type { AccountSection, AccountVisit } from "./account-section.ts";

/** What the pages of the own account need. */
export interface AccountHandlerOptions {
  /** `iam.public_url`. */
  readonly origin: string;
  readonly visitors: Visitors;
  readonly accounts: Pick<LocalAccounts, "find">;
  /** Whether an account has a second factor. */
  readonly hasFactor: (accountId: string) => Promise<boolean>;
  readonly preferences: Pick<CurrentPreferences, "chosenBy">;
  readonly forms: FormTokens;
  readonly design: PageDesign;
  readonly sections: readonly AccountSection[];
}

const LONGEST_FORM = 64 * 1024;
/** How long a login counts as fresh. */
const FRESH_SECONDS = 900;

/** The handler of the pages on which people see and change their own account. */
export function accountHandler(options: AccountHandlerOptions): RawHandler {
  return {
    path: OWN_ACCOUNT_PATH,
    handle: (request, call) =>
      new AccountRequest(options, request, call).respond().catch((error: unknown) => {
        throw requestError(error);
      }),
  };
}

class AccountRequest {
  readonly #options: AccountHandlerOptions;
  readonly #request: RawRequest;
  readonly #call: CallContext;

  constructor(options: AccountHandlerOptions, request: RawRequest, call: CallContext) {
    this.#options = options;
    this.#request = request;
    this.#call = call;
  }

  async respond(): Promise<RawResponse> {
    const { path, query, method } = this.#request;
    const { forms, sections } = this.#options;
    const section = sections.find((one) => sectionPath(one) === path);
    if (section === undefined)
      throw new ServiceError("RESOURCE_NOT_FOUND", "there is no such page");
    if (query.has("error")) return this.#cancelled();
    // The way back from a login, whose code nobody needs.
    if (query.has("code")) return redirectResponse(this.#returnPath(query.get("state")));
    // Before the login is checked: a form may come slowly, and the login may end meanwhile.
    const form = method === "POST" ? await this.#sentForm() : undefined;
    if (form === "of nobody") return this.#notSaved(section);
    const found = await this.#visit(section);
    if (found === undefined) {
      return form === undefined ? this.#logIn(section) : this.#notSaved(section);
    }
    const { visit, view } = found;
    const isFresh = visit.visitor.loginTime > Date.now() - FRESH_SECONDS * 1000;
    if (section.needsFreshLogin === true && !isFresh) {
      return form === undefined ? this.#logIn(section, FRESH_SECONDS) : this.#notSaved(section);
    }
    if (form === undefined) {
      const shown = await section.show(visit);
      const done = forms.dataOf(query, doneAt(section, visit.visitor.browser), DONE) ?? "";
      const message = Object.hasOwn(section.messages, done) ? section.messages[done] : undefined;
      return view.response(200, sectionPage({ section, sections, message, ...shown }));
    }
    return this.#act(section, visit, view, form);
  }

  /** The answer to a login that was cancelled, by somebody who may be logged in all the same. */
  async #cancelled(): Promise<RawResponse> {
    const [first] = this.#options.sections;
    // Not to what needs a login of the last minutes: that was cancelled.
    if (first !== undefined && (await this.#person()) !== undefined) {
      return redirectResponse(sectionPath(first));
    }
    return (await this.#view()).response(403, notLoggedInPage());
  }

  /** The answer to a form whose login has ended, or is too long ago. Nobody else may read what is in it. */
  async #notSaved(section: AccountSection): Promise<RawResponse> {
    return (await this.#view()).response(403, notSavedPage(sectionPath(section)));
  }

  /** Of a page of whoever may be logged in: also a new login may be cancelled. */
  #view(): Promise<PageView> {
    const { visitors, design } = this.#options;
    const { headers } = this.#request;
    const person = async () => personOf((await visitors.find(headers, this.#call))?.accountId);
    return design.personalView(this.#request, this.#call, { person });
  }

  /** The form of the request; that of somebody who is not logged in is not read. */
  async #sentForm(): Promise<URLSearchParams | "of nobody"> {
    const visitor = await this.#options.visitors.find(this.#request.headers, this.#call);
    return visitor === undefined ? "of nobody" : formFields(this.#request, LONGEST_FORM);
  }

  async #act(
    section: AccountSection,
    visit: AccountVisit,
    view: PageView,
    form: URLSearchParams,
  ): Promise<RawResponse> {
    const { origin, forms, sections } = this.#options;
    if (isFromAnotherSite(this.#request, origin)) {
      return view.response(403, foreignFormPage(sectionPath(section)));
    }
    if (!forms.isValid(form, placeOf(section, visit.visitor.browser))) {
      const shown = await section.showAgain(visit, form, FORM_EXPIRED);
      return view.response(403, sectionPage({ section, sections, isProblem: true, ...shown }));
    }
    const result = await section.act(visit, form);
    if ("isLoggedOut" in result) return this.#notSaved(section);
    if ("done" in result) {
      const token = forms.issue(doneAt(section, visit.visitor.browser), result.done);
      return redirectResponse(`${sectionPath(section)}?${new URLSearchParams({ [DONE]: token })}`);
    }
    const { status, title, body, script, retryAfterSeconds, cause } = result;
    if (cause !== undefined) this.#request.nameCause(cause);
    const headers =
      retryAfterSeconds === undefined ? {} : { "Retry-After": String(retryAfterSeconds) };
    const isProblem = status >= 400;
    const page = sectionPage({ section, sections, title, body, script, isProblem });
    return view.response(status, page, headers);
  }

  /** Who is logged in, and may see the own account. */
  async #person() {
    const { visitors, accounts, hasFactor } = this.#options;
    const visitor = await visitors.find(this.#request.headers, this.#call);
    const account = visitor && (await accounts.find(visitor.accountId));
    if (visitor === undefined || account === undefined || account.disabled) return undefined;
    // A session from before the factor was added is that of anybody who knew the password.
    if (!visitor.usedFactor && (await hasFactor(account.id))) return undefined;
    return { visitor, account };
  }

  async #visit(section: AccountSection) {
    const { visitors, preferences, forms, design } = this.#options;
    const person = await this.#person();
    if (person === undefined) return undefined;
    const { visitor, account } = person;
    const chosen = await preferences.chosenBy(`user:${account.id}`);
    const { language, theme } = pageChoiceOf(chosen);
    const view = design.view(this.#request, this.#call).preferring({
      theme,
      ...(language === undefined ? {} : { texts: new Texts(language) }),
    });
    const token = forms.issue(placeOf(section, visitor.browser));
    const call = this.#call;
    const visit: AccountVisit = {
      ...{ visitor, account, call, timeZone: chosen.timeZone || "UTC", token },
      addedFactor: (methods) => visitors.addedFactor(this.#request.headers, call, methods),
    };
    return { visit, view };
  }

  #logIn({ name }: AccountSection, maxAge?: number): RawResponse {
    const login = { state: name || "account", ...(maxAge === undefined ? {} : { maxAge }) };
    return redirectResponse(this.#options.visitors.loginUrl(login));
  }

  #returnPath(state: string | null): string {
    const section = this.#options.sections.find(({ name }) => name === state);
    return section === undefined ? OWN_ACCOUNT_PATH : sectionPath(section);
  }
}

const FORM_EXPIRED: MessageKey = "The form has expired. Send it again.";

/** The parameter that says what was done. It is sealed: a link of somebody else must not say that something was. */
const DONE = "done";

function doneAt({ name }: AccountSection, browser: string) {
  return { form: `account_done/${name}`, browser };
}

function placeOf({ name }: AccountSection, browser: string) {
  return { form: `account/${name}`, browser };
}
