import { AuthzError } from "svc-access/authz";
import { DatabaseError } from "svc-access/database";
import {
  type CallContext,
  type RawHandler,
  type RawRequest,
  type RawResponse,
  ServiceError,
} from "svc-access/runtime";
import { OWN_ACCOUNT_PATH } from "../../config/provider-paths.ts";
import { QueueFullError } from "../../ground/queue/work-queue.ts";
import { DatabaseUnavailable } from "../../ground/store/provider-database.ts";
import { foreignFormPage, slowedResponse } from "../../pages/error-pages.ts";
import type { FormTokens } from "../../pages/form-tokens.ts";
import type { Page } from "../../pages/page.ts";
import type { PageCookie } from "../../pages/page-cookie.ts";
import type { PageDesign } from "../../pages/page-design.ts";
import type { PageView } from "../../pages/page-view.ts";
import { redirectResponse } from "../../pages/redirect-response.ts";
import { formFields, isFromAnotherSite } from "../../pages/sent-forms.ts";
import type { LocalAccounts } from "../../people/accounts/local-accounts.ts";
import type { PasswordLogin } from "../../people/accounts/password-login.ts";
import type { PasswordOwner } from "../../people/accounts/passwords/password-rules.ts";
import { repetitionOf } from "../../people/accounts/repeated-form.ts";
import type { DeadResetLink, ResetLink, ResetLinks } from "../../people/accounts/reset-links.ts";
import type { FailedAttempts } from "../../people/accounts/throttle/failed-attempts.ts";
import { retrySeconds } from "../../people/accounts/throttle/retry-seconds.ts";
import type { PasswordChanges } from "./password-changes.ts";
import {
  deadResetLinkPage,
  type NewPasswordProblems,
  newPasswordProblems,
  passwordSetPage,
  RESET_PATH,
  resetLaterPage,
  resetPage,
} from "./reset-pages.ts";
import type { ResetRights } from "./reset-rights.ts";

/** What the pages of the links need. */
export interface ResetHandlerOptions {
  /** `iam.public_url`. */
  readonly origin: string;
  readonly accounts: Pick<LocalAccounts, "find">;
  readonly links: Pick<ResetLinks, "find">;
  readonly changes: Pick<PasswordChanges, "reset">;
  readonly rights: Pick<ResetRights, "mayReset">;
  readonly logins: Pick<PasswordLogin, "authenticate">;
  readonly attempts: Pick<FailedAttempts, "record">;
  readonly forms: FormTokens;
  /** With the token of the link that a browser has opened. */
  readonly cookie: PageCookie;
  readonly design: PageDesign;
}

const COOKIE_SECONDS = 3600;
/** Behind the token in the cookie, once the password is set. */
const SET = ".set";
const SET_SECONDS = 600;
const FORM = "password_reset";
const LONGEST_FORM = 16 * 1024;

/**
 * The handler of the links by which new passwords are set. A link is opened once: its token moves to a
 * cookie, so that neither the address of the form nor the history of the browser has it.
 */
export function resetHandler(options: ResetHandlerOptions): RawHandler {
  return {
    path: RESET_PATH,
    async handle(request, call) {
      try {
        return await new ResetRequest(options, request, call).respond();
      } catch (error) {
        if (!isTemporary(error)) throw error;
        request.nameCause(new ServiceError("UNAVAILABLE", undefined, { cause: error }));
        // What does not answer is not asked for the look of the page, too.
        const view = options.design.view(request, call);
        return view.response(503, resetLaterPage(), { "Retry-After": "5" });
      }
    },
  };
}

class ResetRequest {
  readonly #options: ResetHandlerOptions;
  readonly #request: RawRequest;
  readonly #call: CallContext;

  constructor(options: ResetHandlerOptions, request: RawRequest, call: CallContext) {
    this.#options = options;
    this.#request = request;
    this.#call = call;
  }

  async respond(): Promise<RawResponse> {
    const { method, query } = this.#request;
    if (method === "POST") return this.#set();
    if (query.has("token")) return this.#open(query.getAll("token"));
    const { token, isSet } = this.#kept();
    if (token === undefined) return this.#page(404, deadResetLinkPage());
    if (isSet) return this.#page(200, passwordSetPage(OWN_ACCOUNT_PATH));
    const link = await this.#find(token);
    return "reason" in link ? this.#refuse(link) : this.#form(200, link, token);
  }

  /** Moves the token of a link to a cookie. */
  async #open([token = "", ...others]: readonly string[]): Promise<RawResponse> {
    const link = await this.#find(others.length === 0 ? token : "");
    if ("reason" in link) return this.#refuse(link);
    const lines = this.#options.cookie.lines(this.#request.headers, token, COOKIE_SECONDS);
    return redirectResponse(RESET_PATH, { "Set-Cookie": lines });
  }

  async #set(): Promise<RawResponse> {
    const { origin, forms, changes } = this.#options;
    const { token } = this.#kept();
    if (token === undefined) return this.#page(403, foreignFormPage());
    if (isFromAnotherSite(this.#request, origin)) {
      return this.#page(403, foreignFormPage(RESET_PATH));
    }
    const form = await formFields(this.#request, LONGEST_FORM);
    if (!forms.isValid(form, { form: FORM, browser: token })) {
      return this.#page(403, foreignFormPage(RESET_PATH));
    }
    const password = form.get("password") ?? "";
    const link = await this.#find(token);
    if ("reason" in link) return this.#repeated(link, token, password);
    const problems = await newPasswordProblems(form, link);
    if (problems !== undefined) return this.#form(400, link, token, problems);
    const result = await changes.reset(link, password, this.#call);
    if (result.outcome === "invalid") {
      return this.#form(400, link, token, { password: result.problem });
    }
    if (result.outcome === "dead") {
      const dead = { reason: result.reason, accountId: link.accountId };
      // The same form may have used it a moment before; it may also have been replaced.
      const now = dead.reason === "used" ? await this.#find(token) : dead;
      return this.#repeated("reason" in now ? now : dead, token, password);
    }
    await this.#call.audit.record({
      event: "password.reset",
      riskLevel: "HIGH",
      resource: `user:${link.accountId}`,
      details: { sessions: result.endedSessions },
    });
    return this.#leadOn(token);
  }

  /** Sends the browser to the page of success, which can be loaded again for a while. */
  #leadOn(token: string): RawResponse {
    const { headers } = this.#request;
    const lines = this.#options.cookie.lines(headers, `${token}${SET}`, SET_SECONDS);
    return redirectResponse(RESET_PATH, { "Set-Cookie": lines });
  }

  /** The response to a form whose link was used: by this form, such as before a double click, or by another one. */
  async #repeated(link: DeadResetLink, token: string, password: string): Promise<RawResponse> {
    const { accounts, attempts, logins } = this.#options;
    const { accountId, reason } = link;
    if (reason !== "used" || accountId === undefined) return this.#refuse(link);
    const { username } = (await accounts.find(accountId)) ?? {};
    if (username === undefined) return this.#refuse(link);
    const found = await repetitionOf({ accountId, username, password }, logins, this.#call);
    switch (found.outcome) {
      case "same":
        return this.#leadOn(token);
      case "other":
        return this.#refuse(link);
      case "slowed":
        await attempts.record(this.#call, {
          event: "login.slowed",
          details: { reason: "used_link" },
          accountId,
        });
        return slowedResponse(await this.#view(), retrySeconds(found));
    }
  }

  /** The token of the link that this browser has opened, and whether it has set the password with it. */
  #kept(): { readonly token: string | undefined; readonly isSet: boolean } {
    const value = this.#options.cookie.valueOf(this.#request.headers);
    const isSet = value?.endsWith(SET) === true;
    return { token: isSet ? value?.slice(0, -SET.length) : value, isSet };
  }

  /** The link of a token, unless its user is disabled, or its maker may no longer make it. */
  async #find(token: string): Promise<(ResetLink & PasswordOwner) | DeadResetLink> {
    const { links, accounts, rights } = this.#options;
    const link = await links.find(token);
    if ("reason" in link) return link;
    const { accountId, maker } = link;
    const account = await accounts.find(accountId);
    if (account === undefined || account.disabled) return { reason: "disabled", accountId };
    const mayReset = await rights.mayReset(maker, accountId, this.#call.signal);
    const { username, email } = account;
    return mayReset ? { ...link, username, email } : { reason: "rights", accountId };
  }

  #view(): Promise<PageView> {
    return this.#options.design.personalView(this.#request, this.#call);
  }

  async #page(status: number, page: Page, headers?: RawResponse["headers"]): Promise<RawResponse> {
    return (await this.#view()).response(status, page, headers);
  }

  #form(
    status: number,
    { username }: { readonly username: string },
    token: string,
    problems?: NewPasswordProblems,
  ): Promise<RawResponse> {
    const formToken = this.#options.forms.issue({ form: FORM, browser: token });
    return this.#page(status, resetPage({ username, problems, token: formToken }));
  }

  async #refuse({ reason, accountId }: DeadResetLink): Promise<RawResponse> {
    await this.#options.attempts.record(this.#call, {
      event: "password.reset_failed",
      details: { reason },
      ...(accountId === undefined ? {} : { accountId }),
    });
    return this.#page(404, deadResetLinkPage(), {
      "Set-Cookie": this.#options.cookie.removed(),
    });
  }
}

/** Whether the same link may work a moment later. */
function isTemporary(error: unknown): boolean {
  return [AuthzError, DatabaseError, DatabaseUnavailable, QueueFullError].some(
    (kind) => error instanceof kind,
  );
}
