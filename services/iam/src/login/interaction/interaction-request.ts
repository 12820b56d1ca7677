import type { Interaction, InteractionResults } from "oidc-provider";
import {
  type CallContext,
  type RawRequest,
  type RawResponse,
  ServiceError,
} from "svc-access/runtime";
import { INTERACTION_PATH } from "../../config/provider-paths.ts";
import type { BrowserIdentity } from "../../pages/browser-identity.ts";
import { redirectResponse } from "../../pages/redirect-response.ts";
import { formFields, isFromAnotherSite } from "../../pages/sent-forms.ts";
import { waitText } from "../../pages/wait-text.ts";
import { passwordsQueueFull } from "../../people/accounts/password-login.ts";
import type { FailedAttempt } from "../../people/accounts/throttle/failed-attempts.ts";
import { retrySeconds } from "../../people/accounts/throttle/retry-seconds.ts";
import { clientsOf, LOGIN_TIMES } from "../../provider/embedded/embedded-options.ts";
import type { EmbeddedProvider } from "../../provider/embedded/embedded-provider.ts";
import { recordEvent } from "../../provider/embedded/request/provider-events.ts";
import { grantScopes } from "../../provider/embedded/tokens/load-grant.ts";
import { CompletedLogins } from "./completed-logins.ts";
import { completedPage, expiredPage, type FormProblem } from "./interaction-pages.ts";
import { redirectUriOf, scopesOf } from "./interaction-parameters.ts";
import { InteractionView } from "./interaction-view.ts";
import { type LoginState, LoginSteps, type StepResult } from "./login-steps.ts";

const WRONG: FormProblem = { text: "The user name or the password is wrong." };
const FORM_EXPIRED: FormProblem = { text: "The form has expired. Send it again." };
/** The answer of an authenticator takes a part of it. */
const LONGEST_FORM = 64 * 1024;
const BUSY: FormProblem = {
  text: "Too many people log in at the moment. Try again in a few seconds.",
};

/** A request of a login or consent page. */
export class InteractionRequest {
  readonly #embedded: EmbeddedProvider;
  readonly #request: RawRequest;
  readonly #call: CallContext;
  readonly #view: InteractionView;
  /** Undefined where passwords are enough. */
  readonly #steps: LoginSteps | undefined;

  constructor(
    embedded: EmbeddedProvider,
    request: RawRequest,
    call: CallContext,
    browser: BrowserIdentity,
  ) {
    this.#embedded = embedded;
    this.#request = request;
    this.#call = call;
    const { factors } = embedded.options;
    this.#steps = factors && new LoginSteps(factors.factors, factors.passwordVersion);
    this.#view = new InteractionView(embedded, request, call, browser, this.#steps);
  }

  async respond(): Promise<RawResponse> {
    const { method } = this.#request;
    const interaction = await this.#interaction();
    // The cookie, which other sites cannot send with a POST, names the interaction too.
    if (this.#isCrossSite()) return (await this.#view.pageView()).response(400, expiredPage());
    if (interaction === undefined) return this.#over();
    if (method === "GET" || method === "HEAD") return this.#view.page(interaction, 200);
    if (method !== "POST") throw new ServiceError("METHOD_NOT_ALLOWED", "use GET or POST");
    const form = await formFields(this.#request, LONGEST_FORM);
    const data = this.#embedded.forms.dataOf(form, this.#view.placeOf(interaction));
    if (data === undefined) return this.#view.page(interaction, 403, FORM_EXPIRED);
    if (form.get("action") === "cancel") {
      const error_description = "the login was cancelled";
      return this.#finish(interaction, { error: "access_denied", error_description });
    }
    switch (interaction.prompt.name) {
      case "login":
        return form.get("action") === "login" || this.#steps === undefined
          ? this.#login(interaction, form)
          : this.#act(this.#steps, interaction, JSON.parse(data), form);
      case "consent":
        return this.#consent(interaction, form);
      default:
        return this.#view.page(interaction, 501);
    }
  }

  async #interaction(): Promise<Interaction | undefined> {
    const { provider } = await this.#embedded.current();
    const { incoming, response, path } = this.#request;
    try {
      const found = await provider.interactionDetails(incoming, response);
      return path === `${INTERACTION_PATH}/${found.uid}` ? found : undefined;
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  /** The response for a page whose login is over, such as to a browser that goes back to it. */
  async #over(): Promise<RawResponse> {
    const { headers, path } = this.#request;
    const uid = path.slice(INTERACTION_PATH.length + 1);
    const completed = this.#completed().find(headers, uid);
    const session = await this.#embedded.sessionOf(headers, this.#call);
    const view = await this.#view.pageView();
    const isComplete = completed?.isCancelled === false && session?.accountId !== undefined;
    return isComplete
      ? view.response(200, completedPage(completed.start))
      : view.response(400, expiredPage(completed?.start));
  }

  #completed(): CompletedLogins {
    const { options } = this.#embedded;
    const { publicUrl, loginTimes = LOGIN_TIMES } = options;
    const browserSeconds = Math.floor(loginTimes.absoluteMs / 1000);
    return new CompletedLogins({ publicUrl, browserSeconds, clients: () => clientsOf(options) });
  }

  #isCrossSite(): boolean {
    return isFromAnotherSite(this.#request, new URL(this.#embedded.issuer).origin);
  }

  async #login(interaction: Interaction, form: URLSearchParams): Promise<RawResponse> {
    const { accounts } = this.#embedded.options;
    const { clientAddress: address, signal, deadline } = this.#call;
    // Keyboards of phones add a space after a word that they complete; no user name has one at an end.
    const username = (form.get("username") ?? "").trim();
    const password = form.get("password") ?? "";
    this.#view.entered = username;
    const client = String(interaction.params["client_id"]);
    const result = await accounts.authenticate({
      username,
      password,
      address,
      signal,
      deadline,
    });
    switch (result.outcome) {
      case "ok": {
        const { account, passwordVersion } = result;
        const first = { accountId: account.id, passwordVersion };
        const next = await this.#steps?.afterPassword(first, this.#call);
        return this.#step(interaction, next ?? { outcome: "done", first, amr: ["pwd"] });
      }
      case "wrong":
        // What was typed as the user name may be a password.
        await this.#failed({ event: "login.failed", details: { client } });
        return this.#view.page(interaction, 401, WRONG);
      case "slowed": {
        await this.#failed({ event: "login.slowed", details: { client } });
        const seconds = retrySeconds(result);
        const text = "There were too many failed attempts. Try again in {seconds} s.";
        const problem = waitText(text, seconds);
        const { headers, ...page } = await this.#view.page(interaction, 429, problem);
        return { ...page, headers: { ...headers, "Retry-After": String(seconds) } };
      }
      case "busy": {
        this.#request.nameCause(passwordsQueueFull());
        const { headers, ...page } = await this.#view.page(interaction, 503, BUSY);
        return { ...page, headers: { ...headers, "Retry-After": "5" } };
      }
    }
  }

  /** Somebody has failed, who is known only after a right password. */
  #failed(attempt: FailedAttempt): Promise<void> {
    return this.#embedded.attempts.record(this.#call, attempt);
  }

  /** A step after the password, or in its place. */
  async #act(
    steps: LoginSteps,
    interaction: Interaction,
    state: LoginState,
    form: URLSearchParams,
  ): Promise<RawResponse> {
    if (isCompletedBy(interaction, state)) return redirectResponse(interaction.returnTo);
    const result = await steps.act(state, form, this.#call);
    // The browser shows the answer to the second of two clicks, whose code the first has used.
    if (result.outcome === "page") {
      const now = await this.#interaction();
      if (now !== undefined && isCompletedBy(now, state)) return redirectResponse(now.returnTo);
    }
    return this.#step(interaction, result);
  }

  /** Completes the login, or shows its next page. */
  async #step(interaction: Interaction, result: StepResult): Promise<RawResponse> {
    const { options } = this.#embedded;
    const client = String(interaction.params["client_id"]);
    if (result.event !== undefined) {
      const { method, ...event } = result.event;
      const details = { client, method };
      if (event.event === "second_factor.failed") {
        await this.#failed({ ...event, event: event.event, details });
      } else {
        const riskLevel = event.event === "second_factor.used" ? "LOW" : "MEDIUM";
        recordEvent(options, { ...event, riskLevel, details });
      }
    }
    if (result.outcome === "page") return this.#view.stepPage(interaction, result);
    const { accountId, passwordVersion } = result.first;
    // The browser may come back for it much later.
    const ts = result.time ?? Math.floor(Date.now() / 1000);
    // That it has succeeded is recorded with its session: the password may have been changed meanwhile.
    const login = { accountId, remember: true, amr: [...result.amr], passwordVersion, ts };
    return this.#finish(interaction, { login });
  }

  async #consent(interaction: Interaction, form: URLSearchParams): Promise<RawResponse> {
    const accountId = interaction.session?.accountId;
    const clientId = String(interaction.params["client_id"]);
    if (form.get("action") !== "consent" || accountId === undefined) {
      return this.#view.page(interaction, 400);
    }
    const { provider } = await this.#embedded.current();
    const known =
      interaction.grantId === undefined
        ? undefined
        : await provider.Grant.find(interaction.grantId);
    const grant = known ?? new provider.Grant({ accountId, clientId });
    grantScopes(grant, scopesOf(interaction));
    const grantId = await grant.save();
    recordEvent(this.#embedded.options, {
      event: "login.consented",
      riskLevel: "LOW",
      accountId,
      details: { client: clientId },
    });
    return this.#finish(interaction, { consent: { grantId } }, true);
  }

  /** Stores the result; the provider takes it when the browser comes back to it. */
  async #finish(
    interaction: Interaction,
    result: InteractionResults,
    isMerged = false,
  ): Promise<RawResponse> {
    const { provider } = await this.#embedded.current();
    const { incoming, response } = this.#request;
    let location: string;
    try {
      location = await provider.interactionResult(incoming, response, result, {
        mergeWithLastSubmission: isMerged,
      });
    } catch (error) {
      if (!isNotFound(error)) throw error;
      // Another request has completed it meanwhile, such as one that was sent twice.
      return this.#over();
    }
    const lines = this.#completed().lines(this.#request.headers, {
      uid: interaction.uid,
      clientId: String(interaction.params["client_id"]),
      redirectUri: redirectUriOf(interaction),
      isCancelled: "error" in result,
    });
    return redirectResponse(location, { "Set-Cookie": lines });
  }
}

function isNotFound(error: unknown): boolean {
  return error instanceof Error && error.name === "SessionNotFound";
}

/** Whether a person has completed the login, and the browser has not come back for it. */
function isCompletedBy({ result }: Interaction, { first }: LoginState): boolean {
  return first !== undefined && result?.login?.accountId === first.accountId;
}
