import type { RawResponse } from "svc-access/runtime";
import { formFields, isFromAnotherSite } from "../pages/sent-forms.ts";
import {
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
  otherSitePage,
  ownedPage,
  ownerPage,
} from "./bootstrap-pages.ts";
import type { FirstUser } from "./first-user.ts";

/** What the form of the first user needs. */
export interface FirstUserFlowOptions extends BootstrapParts {
  readonly user: FirstUser;
  /** `iam.public_url`. */
  readonly publicUrl: string;
  /** `iam.organization`: whose users are made here. */
  readonly organization: string;
}

const LONGEST_FORM = 16 * 1024;
const NO_FIELDS = { username: "", displayName: "", email: "" };

/** With local users: a link shows a form, which makes the first user. */
export class FirstUserFlow implements BootstrapFlow {
  readonly #options: FirstUserFlowOptions;

  constructor(options: FirstUserFlowOptions) {
    this.#options = options;
  }

  async respond(given: BootstrapRequest): Promise<RawResponse | undefined> {
    const { view } = given;
    const { method, path, query } = given.request;
    if (path !== BOOTSTRAP_PATH) return undefined;
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
    const found = await this.#open(form.getAll("token"), given);
    if (!("link" in found)) return found;
    const { link, token } = found;
    const { zone } = link;
    const text = (name: string) => form.get(name) ?? "";
    const fields = {
      username: text("username"),
      displayName: text("display_name"),
      email: text("email"),
    };
    const passwords = { password: text("password"), repeated: text("repeated") };
    const { user, attempts } = this.#options;
    const result = await user.make(link, { ...fields, ...passwords }, call);
    switch (result.outcome) {
      case "made":
        return view.response(200, ownerPage({ zone, name: fields.username }));
      case "invalid": {
        const { problems } = result;
        return view.response(400, firstUserPage({ zone, token, fields, problems }));
      }
      case "owned":
        await attempts.record(call, failureOf(link, "owned"));
        return view.response(409, ownedPage(zone));
      case "dead":
        await attempts.record(call, failureOf(link, "dead_link"));
        return view.response(404, deadLinkPage());
    }
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
