import { type RawResponse, ServiceError } from "svc-access/runtime";
import { OWN_ACCOUNT_PATH } from "../config/provider-paths.ts";
import { errorPage, slowedResponse } from "../pages/error-pages.ts";
import type { FormPlace, FormTokens } from "../pages/form-tokens.ts";
import { redirectResponse } from "../pages/redirect-response.ts";
import { formFields, isFromAnotherSite } from "../pages/sent-forms.ts";
import type { LocalAccounts } from "../people/accounts/local-accounts.ts";
import type { PasswordLogin } from "../people/accounts/password-login.ts";
import { repetitionOf } from "../people/accounts/repeated-form.ts";
import { retrySeconds } from "../people/accounts/throttle/retry-seconds.ts";
import {
  BOOTSTRAP_DONE_PATH,
  BOOTSTRAP_PATH,
  type BootstrapFlow,
  type BootstrapParts,
  type BootstrapRequest,
  failureOf,
  openLink,
} from "./bootstrap-handler.ts";
import {
  deadLinkPage,
  firstUserPage,
  type NewOwner,
  otherSitePage,
  ownedPage,
  ownerPage,
} from "./bootstrap-pages.ts";
import type { FirstUser } from "./first-user.ts";

/** What the form of the first user needs. */
export interface FirstUserFlowOptions extends BootstrapParts {
  readonly user: FirstUser;
  readonly accounts: Pick<LocalAccounts, "find">;
  readonly logins: Pick<PasswordLogin, "authenticate">;
  readonly forms: FormTokens;
  /** `iam.public_url`. */
  readonly publicUrl: string;
  /** `iam.organization`: whose users are made here. */
  readonly organization: string;
}

const LONGEST_FORM = 16 * 1024;
const NO_FIELDS = { username: "", displayName: "", email: "" };
/** The parameter with the sealed owner of the page of success. */
const OWNER = "owner";
/** Who has its address has used the link, or was shown that page. */
const DONE: FormPlace = { form: "bootstrap_done", browser: "" };

/**
 * With local users: a link shows a form, which makes the first user. Whoever has sent it comes to a page of its own,
 * which can be loaded again; the same form that is sent again leads there, too.
 */
export class FirstUserFlow implements BootstrapFlow {
  readonly paths = [BOOTSTRAP_PATH, BOOTSTRAP_DONE_PATH];
  readonly #options: FirstUserFlowOptions;

  constructor(options: FirstUserFlowOptions) {
    this.#options = options;
  }

  async respond(given: BootstrapRequest): Promise<RawResponse> {
    const { view } = given;
    const { method, path, query } = given.request;
    if (path === BOOTSTRAP_DONE_PATH) {
      if (method !== "POST") return this.#done(given);
      const error = new ServiceError("METHOD_NOT_ALLOWED", "use GET");
      return view.response(error.status, errorPage(error), { Allow: "GET, HEAD" });
    }
    if (method === "POST") return this.#make(given);
    const found = await this.#open(query.getAll("token"), given);
    if (!("link" in found)) return found;
    const { link, token } = found;
    const form = { zone: link.zone, token, fields: link.pending ?? NO_FIELDS, problems: {} };
    return view.response(200, firstUserPage(form));
  }

  async #make(given: BootstrapRequest): Promise<RawResponse> {
    const { request, call, view } = given;
    if (isFromAnotherSite(request, this.#options.publicUrl)) {
      return view.response(403, otherSitePage());
    }
    const form = await formFields(request, LONGEST_FORM);
    const tokens = form.getAll("token");
    const repeated = await this.#repeated(tokens, form, given);
    if (repeated !== undefined) return repeated;
    const found = await this.#open(tokens, given);
    if (!("link" in found)) return found;
    const { link, token } = found;
    const { zone } = link;
    const fields = {
      username: wordOf(form, "username"),
      displayName: wordOf(form, "display_name"),
      email: wordOf(form, "email"),
    };
    const passwords = { password: textOf(form, "password"), repeated: textOf(form, "repeated") };
    const { user, attempts } = this.#options;
    const result = await user.make(link, { ...fields, ...passwords }, call);
    switch (result.outcome) {
      case "made":
        return this.#leadOn({ zone, name: fields.username });
      case "invalid": {
        const { problems } = result;
        return view.response(400, firstUserPage({ zone, token, fields, problems }));
      }
      case "owned":
        await attempts.record(call, failureOf(link, "owned"));
        return view.response(409, ownedPage(zone, this.#options.loginPath));
      case "dead": {
        const again = await this.#repeated(tokens, form, given);
        if (again !== undefined) return again;
        await attempts.record(call, failureOf(link, "dead_link"));
        return view.response(404, deadLinkPage());
      }
    }
  }

  /**
   * The response to the form that has used its link, such as after a double click.
   *
   * @returns undefined for every other form
   */
  async #repeated(
    [token = "", ...others]: readonly string[],
    form: URLSearchParams,
    { call, view }: BootstrapRequest,
  ): Promise<RawResponse | undefined> {
    const { links, accounts, attempts, logins, organization } = this.#options;
    const accountId = others.length === 0 ? await links.accountOfUsed(token) : undefined;
    const account = accountId === undefined ? undefined : await accounts.find(accountId);
    if (account?.username !== wordOf(form, "username")) return undefined;
    const { id, username } = account;
    const password = textOf(form, "password");
    const found = await repetitionOf({ accountId: id, username, password }, logins, call);
    if (found.outcome === "slowed") {
      const details = { reason: "used_link" };
      await attempts.record(call, { event: "login.slowed", details, accountId: id });
      return slowedResponse(view, retrySeconds(found));
    }
    return found.outcome === "same"
      ? this.#leadOn({ zone: organization, name: username })
      : undefined;
  }

  /** Sends the browser to the page of success. */
  #leadOn(owner: NewOwner): RawResponse {
    const query = new URLSearchParams({
      [OWNER]: this.#options.forms.issue(DONE, JSON.stringify(owner)),
    });
    return redirectResponse(`${BOOTSTRAP_DONE_PATH}?${query}`);
  }

  #done({ request, view }: BootstrapRequest): RawResponse {
    const owner = this.#options.forms.dataOf(request.query, DONE, OWNER);
    // Not recorded: that it was loaded again too late is not the use of a link.
    return owner === undefined
      ? view.response(404, deadLinkPage())
      : view.response(200, ownerPage(JSON.parse(owner), OWN_ACCOUNT_PATH));
  }

  async #open(tokens: readonly string[], given: BootstrapRequest) {
    const found = await openLink(tokens, this.#options, given);
    // It was made for another configuration.
    const isOther = "link" in found && found.link.zone !== this.#options.organization;
    if (!isOther) return found;
    await this.#options.attempts.record(given.call, failureOf(found.link, "dead_link"));
    return given.view.response(404, deadLinkPage());
  }
}

function textOf(form: URLSearchParams, name: string): string {
  return form.get(name) ?? "";
}

/** Keyboards of phones add a space after a word that they complete. */
function wordOf(form: URLSearchParams, name: string): string {
  return textOf(form, name).trim();
}
