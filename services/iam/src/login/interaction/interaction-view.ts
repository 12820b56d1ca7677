import type { Interaction } from "oidc-provider";
import type { CallContext, RawRequest, RawResponse } from "svc-access/runtime";
import type { BrowserIdentity } from "../../pages/browser-identity.ts";
import type { FormPlace } from "../../pages/form-tokens.ts";
import { personOf } from "../../pages/page-choices.ts";
import type { PageView } from "../../pages/page-view.ts";
import { clientsOf } from "../../provider/embedded/embedded-options.ts";
import type { EmbeddedProvider } from "../../provider/embedded/embedded-provider.ts";
import {
  consentPage,
  type FormProblem,
  loginPage,
  unimplementedPage,
} from "./interaction-pages.ts";
import { isAskedAgain, redirectUriOf, scopesOf } from "./interaction-parameters.ts";
import type { LoginSteps } from "./login-steps.ts";
import { type StepPage, stepPage } from "./step-pages.ts";

const LONGEST_NAME = 256;

/** What a request of a login or consent page is answered with while it is not completed. */
export class InteractionView {
  readonly #embedded: EmbeddedProvider;
  readonly #request: RawRequest;
  readonly #call: CallContext;
  readonly #browser: BrowserIdentity;
  /** Undefined where passwords are enough. */
  readonly #steps: LoginSteps | undefined;
  /** The user name of a form that was not accepted: the person need not enter it again. */
  entered: string | undefined;

  constructor(
    embedded: EmbeddedProvider,
    request: RawRequest,
    call: CallContext,
    browser: BrowserIdentity,
    steps: LoginSteps | undefined,
  ) {
    this.#embedded = embedded;
    this.#request = request;
    this.#call = call;
    this.#browser = browser;
    this.#steps = steps;
  }

  /** For whoever was logged in when the login began; who logs in now is not known yet. */
  pageView(interaction?: Interaction): Promise<PageView> {
    const { design } = this.#embedded;
    if (interaction !== undefined) {
      const person = () => personOf(interaction.session?.accountId);
      const locales = interaction.params["ui_locales"];
      return design.personalView(this.#request, this.#call, { person, locales });
    }
    const person = () => this.#embedded.visitorOf(this.#request.headers, this.#call);
    return design.personalView(this.#request, this.#call, { person });
  }

  /** The page of what is asked now. */
  async page(
    interaction: Interaction,
    status: number,
    problem?: FormProblem,
  ): Promise<RawResponse> {
    const leadsTo = redirectUriOf(interaction);
    const client = await this.#clientName(interaction);
    if (interaction.prompt.name === "login" && this.#steps !== undefined) {
      const state = this.#steps.begin();
      return this.stepPage(interaction, { outcome: "page", status, state, ...given(problem) });
    }
    const token = this.#embedded.forms.issue(this.placeOf(interaction));
    const view = await this.pageView(interaction);
    switch (interaction.prompt.name) {
      case "login": {
        const form = { client, problem, leadsTo, token, isAgain: isAskedAgain(interaction) };
        const username = await this.#username(interaction);
        return view.response(status, loginPage({ ...form, username }));
      }
      case "consent": {
        const username = await this.#personOf(interaction);
        return view.response(
          status,
          consentPage({ client, username, scopes: scopesOf(interaction), problem, leadsTo, token }),
        );
      }
      default:
        return view.response(501, unimplementedPage(`prompt=${interaction.prompt.name}`));
    }
  }

  /** The page of a step of a login. */
  async stepPage(interaction: Interaction, result: StepPage): Promise<RawResponse> {
    const { factors } = this.#embedded.options;
    if (factors === undefined) throw new Error("a login has a second step without second factors");
    const { status, retryAfterSeconds: seconds } = result;
    const data = JSON.stringify(result.state);
    const page = await stepPage(factors.factors, this.#embedded.options.accounts, result, {
      client: await this.#clientName(interaction),
      username: await this.#username(interaction),
      isAgain: isAskedAgain(interaction),
      problem: result.problem,
      leadsTo: redirectUriOf(interaction),
      token: this.#embedded.forms.issue(this.placeOf(interaction), data),
    });
    const headers = seconds === undefined ? {} : { "Retry-After": String(seconds) };
    return (await this.pageView(interaction)).response(status, page, headers);
  }

  /** Other hosts of the domain can give a browser the cookie of an interaction, so its id alone is not enough. */
  placeOf({ uid, prompt }: Interaction): FormPlace {
    return { form: prompt.name, browser: `${this.#browser.hash} ${uid}` };
  }

  /** What the field of the user name has at first. */
  async #username(interaction: Interaction): Promise<string> {
    const hint = interaction.params["login_hint"];
    const known = this.entered ?? (typeof hint === "string" ? hint : undefined);
    if (known !== undefined) return known.slice(0, LONGEST_NAME);
    return isAskedAgain(interaction) ? this.#personOf(interaction) : "";
  }

  /** The user name of whoever is logged in. */
  async #personOf({ session }: Interaction): Promise<string> {
    const account = await this.#embedded.options.accounts.find(session?.accountId ?? "");
    return account?.username ?? "";
  }

  async #clientName({ params }: Interaction): Promise<string> {
    const clients = clientsOf(this.#embedded.options);
    return clients.find(({ id }) => id === params["client_id"])?.name ?? "";
  }
}

function given(problem: FormProblem | undefined) {
  return problem === undefined ? {} : { problem };
}
