import type { Interaction, InteractionResults } from "oidc-provider";
import {
  type CallContext,
  type RawRequest,
  type RawResponse,
  ServiceError,
} from "svc-access/runtime";
import { isFromAnotherSite } from "../pages/cross-site.ts";
import { formFields } from "../pages/form-fields.ts";
import type { FormPlace } from "../pages/form-tokens.ts";
import type { PageView } from "../pages/page-view.ts";
import { clientsOf, INTERACTION_PATH } from "../provider/embedded/embedded-options.ts";
import type { EmbeddedProvider } from "../provider/embedded/embedded-provider.ts";
import { recordEvent } from "../provider/embedded/request/record-event.ts";
import { grantScopes } from "../provider/embedded/tokens/load-grant.ts";
import {
  consentPage,
  expiredPage,
  type FormProblem,
  loginPage,
  unimplementedPage,
} from "./interaction-pages.ts";
import { redirectUriOf, scopesOf } from "./interaction-parameters.ts";
import { LoginSteps, type StepResult } from "./login-steps.ts";
import { type StepPage, stepPage } from "./step-page.ts";

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
  /** Undefined where passwords are enough. */
  readonly #steps: LoginSteps | undefined;

  constructor(embedded: EmbeddedProvider, request: RawRequest, call: CallContext) {
    this.#embedded = embedded;
    this.#request = request;
    this.#call = call;
    const { factors } = embedded.options;
    this.#steps = factors && new LoginSteps(factors.factors, factors.passwordVersion);
  }

  async respond(): Promise<RawResponse> {
    const { method } = this.#request;
    const interaction = await this.#interaction();
    // The cookie, which other sites cannot send with a POST, names the interaction too.
    if (interaction === undefined || this.#isCrossSite())
      return this.#view().response(400, expiredPage());
    if (method === "GET" || method === "HEAD") return this.#page(interaction, 200);
    if (method !== "POST") throw new ServiceError("METHOD_NOT_ALLOWED", "use GET or POST");
    const form = await formFields(this.#request, LONGEST_FORM);
    const data = this.#embedded.forms.dataOf(form, placeOf(interaction));
    if (data === undefined) return this.#page(interaction, 403, FORM_EXPIRED);
    if (form.get("action") === "cancel") {
      return this.#finish({ error: "access_denied", error_description: "the login was cancelled" });
    }
    switch (interaction.prompt.name) {
      case "login":
        return form.get("action") === "login" || this.#steps === undefined
          ? this.#login(interaction, form)
          : this.#step(interaction, await this.#steps.act(JSON.parse(data), form, this.#call));
      case "consent":
        return this.#consent(interaction, form);
      default:
        return this.#page(interaction, 501);
    }
  }

  async #interaction(): Promise<Interaction | undefined> {
    const { provider } = await this.#embedded.current();
    const { incoming, response, path } = this.#request;
    try {
      const found = await provider.interactionDetails(incoming, response);
      return path === `${INTERACTION_PATH}/${found.uid}` ? found : undefined;
    } catch (error) {
      if ((error as Error).name === "SessionNotFound") return undefined;
      throw error;
    }
  }

  #isCrossSite(): boolean {
    return isFromAnotherSite(this.#request, new URL(this.#embedded.issuer).origin);
  }

  #view(interaction?: Interaction): PageView {
    return this.#embedded.design.view(this.#request, this.#call, interaction?.params["ui_locales"]);
  }

  async #page(
    interaction: Interaction,
    status: number,
    problem?: FormProblem,
  ): Promise<RawResponse> {
    const view = this.#view(interaction);
    const leadsTo = redirectUriOf(interaction);
    const client = await this.#clientName(interaction);
    if (interaction.prompt.name === "login" && this.#steps !== undefined) {
      const state = this.#steps.begin();
      return this.#stepPage(interaction, { outcome: "page", status, state, ...given(problem) });
    }
    const token = this.#embedded.forms.issue(placeOf(interaction));
    switch (interaction.prompt.name) {
      case "login": {
        const username = String(interaction.params["login_hint"] ?? "").slice(0, 256);
        return view.response(status, loginPage({ client, username, problem, leadsTo, token }));
      }
      case "consent": {
        const account = await this.#embedded.options.accounts.find(
          interaction.session?.accountId ?? "",
        );
        const username = account?.username ?? "";
        return view.response(
          status,
          consentPage({ client, username, scopes: scopesOf(interaction), problem, leadsTo, token }),
        );
      }
      default:
        return view.response(501, unimplementedPage(`the prompt ${interaction.prompt.name}`));
    }
  }

  async #login(interaction: Interaction, form: URLSearchParams): Promise<RawResponse> {
    const { accounts } = this.#embedded.options;
    const { clientAddress: address, signal } = this.#call;
    const username = form.get("username") ?? "";
    const password = form.get("password") ?? "";
    const client = String(interaction.params["client_id"]);
    const result = await accounts.authenticate({ username, password, address, signal });
    switch (result.outcome) {
      case "ok": {
        const { account, passwordVersion } = result;
        const first = { accountId: account.id, passwordVersion };
        const next = await this.#steps?.afterPassword(first, this.#call);
        return this.#step(interaction, next ?? { outcome: "done", first, amr: ["pwd"] });
      }
      case "wrong":
        // What was typed as the user name may be a password.
        recordEvent(this.#embedded.options, {
          event: "login.failed",
          riskLevel: "MEDIUM",
          details: { client },
        });
        return this.#page(interaction, 401, WRONG);
      case "slowed": {
        recordEvent(this.#embedded.options, {
          event: "login.slowed",
          riskLevel: "MEDIUM",
          details: { client },
        });
        const seconds = Math.max(1, Math.ceil(result.retryAfterMs / 1000));
        const problem: FormProblem = {
          text: "There were too many failed attempts. Try again in {seconds} seconds.",
          values: { seconds },
        };
        const { headers, ...page } = await this.#page(interaction, 429, problem);
        return { ...page, headers: { ...headers, "Retry-After": String(seconds) } };
      }
      case "busy": {
        const { headers, ...page } = await this.#page(interaction, 503, BUSY);
        return { ...page, headers: { ...headers, "Retry-After": "5" } };
      }
    }
  }

  /** Completes the login, or shows its next page. */
  async #step(interaction: Interaction, result: StepResult): Promise<RawResponse> {
    const { options } = this.#embedded;
    const client = String(interaction.params["client_id"]);
    if (result.event !== undefined) {
      const { method, ...event } = result.event;
      const riskLevel = event.event === "second_factor.used" ? "LOW" : "MEDIUM";
      recordEvent(options, { ...event, riskLevel, details: { client, method } });
    }
    if (result.outcome === "page") return this.#stepPage(interaction, result);
    const { accountId, passwordVersion } = result.first;
    recordEvent(options, {
      event: "login.succeeded",
      riskLevel: "LOW",
      accountId,
      details: { client },
    });
    const login = { accountId, remember: true, amr: [...result.amr], passwordVersion };
    return this.#finish({ login });
  }

  async #stepPage(interaction: Interaction, result: StepPage): Promise<RawResponse> {
    const { factors } = this.#embedded.options;
    if (factors === undefined) throw new Error("a login has a second step without second factors");
    const { status, retryAfterSeconds: seconds } = result;
    const data = JSON.stringify(result.state);
    const page = await stepPage(factors.factors, this.#embedded.options.accounts, result, {
      client: await this.#clientName(interaction),
      username: String(interaction.params["login_hint"] ?? "").slice(0, 256),
      problem: result.problem,
      leadsTo: redirectUriOf(interaction),
      token: this.#embedded.forms.issue(placeOf(interaction), data),
    });
    const headers = seconds === undefined ? {} : { "Retry-After": String(seconds) };
    return this.#view(interaction).response(status, page, headers);
  }

  async #consent(interaction: Interaction, form: URLSearchParams): Promise<RawResponse> {
    const accountId = interaction.session?.accountId;
    const clientId = String(interaction.params["client_id"]);
    if (form.get("action") !== "consent" || accountId === undefined) {
      return this.#page(interaction, 400);
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
    return this.#finish({ consent: { grantId } }, true);
  }

  /** Stores the result; the provider takes it when the browser comes back to it. */
  async #finish(result: InteractionResults, isMerged = false): Promise<RawResponse> {
    const { provider } = await this.#embedded.current();
    const { incoming, response } = this.#request;
    const location = await provider.interactionResult(incoming, response, result, {
      mergeWithLastSubmission: isMerged,
    });
    return { status: 303, headers: { Location: location, "Cache-Control": "no-store" } };
  }

  async #clientName({ params }: Interaction): Promise<string> {
    const clients = clientsOf(this.#embedded.options);
    return clients.find(({ id }) => id === params["client_id"])?.name ?? "";
  }
}

/** Its id is in its own cookie, which only the browser that has begun it has. */
function placeOf({ uid, prompt }: Interaction): FormPlace {
  return { form: prompt.name, browser: uid };
}

function given(problem: FormProblem | undefined) {
  return problem === undefined ? {} : { problem };
}
