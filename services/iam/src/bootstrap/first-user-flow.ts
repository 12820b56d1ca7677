import type { RawResponse } from "svc-access/runtime";
import { isFromAnotherSite } from "../pages/cross-site.ts";
import { formFields } from "../pages/form-fields.ts";
import {
  BOOTSTRAP_PATH,
  type BootstrapFlow,
  type BootstrapParts,
  type BootstrapRequest,
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
import { usedEvent } from "./zone-owners.ts";

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
    const { zone, accountId } = link;
    const text = (name: string) => form.get(name) ?? "";
    const fields = {
      username: text("username"),
      displayName: text("display_name"),
      email: text("email"),
    };
    const passwords = { password: text("password"), repeated: text("repeated") };
    const { user } = this.#options;
    const result = await user.make(link, { ...fields, ...passwords }, call.signal);
    switch (result.outcome) {
      case "made":
        if (!result.isRepeated) await call.audit.record(usedEvent(zone, accountId));
        return view.response(200, ownerPage({ zone, name: fields.username }));
      case "invalid": {
        const { problems } = result;
        return view.response(400, firstUserPage({ zone, token, fields, problems }));
      }
      case "owned":
        return view.response(409, ownedPage(zone));
      case "dead":
        return view.response(404, deadLinkPage());
    }
  }

  async #open(tokens: readonly string[], given: BootstrapRequest) {
    const found = await openLink(tokens, this.#options, given);
    // It was made for another configuration.
    const isOther = "link" in found && found.link.zone !== this.#options.organization;
    return isOther ? given.view.response(404, deadLinkPage()) : found;
  }
}
