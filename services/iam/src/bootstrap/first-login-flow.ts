import { type RawResponse, ServiceError } from "svc-access/runtime";
import { errorPage } from "../pages/error-pages.ts";
import type { PageCookie } from "../pages/page-cookie.ts";
import { redirectResponse } from "../pages/redirect-response.ts";
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
  failedLoginPage,
  firstLoginPage,
  type NewOwner,
  ownedPage,
  ownerPage,
} from "./bootstrap-pages.ts";
import type { FirstLogin } from "./first-login.ts";
import type { FirstOwner } from "./first-owner.ts";

/** The path that the provider sends browsers back to. */
export const BOOTSTRAP_CALLBACK_PATH = `${BOOTSTRAP_PATH}/callback`;

/** What logins by a link need. */
export interface FirstLoginFlowOptions extends BootstrapParts {
  readonly login: FirstLogin;
  readonly owner: FirstOwner;
  /** With the token of the link that a browser has opened, and the secret of its login. */
  readonly cookie: PageCookie;
}

const REFUSALS: ReadonlySet<string> = new Set(["INVALID_ARGUMENT", "UNAUTHORIZED"]);
/** A login takes less, with a second factor that is looked for. */
const COOKIE_SECONDS = 1800;
/** In the cookie after the link has made an owner, before who that is. Tokens are longer. */
const MADE = "made";
const LONGEST_NAME = 256;
const MADE_SECONDS = 600;

/** With another provider: a link makes an owner of whoever logs in by it. */
export class FirstLoginFlow implements BootstrapFlow {
  readonly paths = [BOOTSTRAP_PATH, BOOTSTRAP_CALLBACK_PATH, BOOTSTRAP_DONE_PATH];
  readonly #options: FirstLoginFlowOptions;

  constructor(options: FirstLoginFlowOptions) {
    this.#options = options;
  }

  async respond(given: BootstrapRequest): Promise<RawResponse> {
    const { view } = given;
    const { path, method } = given.request;
    if (method !== "GET" && method !== "HEAD") {
      const error = new ServiceError("METHOD_NOT_ALLOWED", "use GET");
      return view.response(error.status, errorPage(error), { Allow: "GET, HEAD" });
    }
    if (path === BOOTSTRAP_PATH) return this.#begin(given);
    const owner = this.#ownerMade(given);
    if (path === BOOTSTRAP_DONE_PATH) {
      return owner === undefined
        ? view.response(404, deadLinkPage())
        : view.response(200, ownerPage(owner));
    }
    return owner === undefined ? this.#complete(given) : redirectResponse(BOOTSTRAP_DONE_PATH);
  }

  async #begin(given: BootstrapRequest): Promise<RawResponse> {
    const { request, call, view } = given;
    const found = await openLink(request.query.getAll("token"), this.#options, given);
    if (!("link" in found)) return found;
    const { link, token } = found;
    const { loginUrl, secret } = await this.#options.login.begin(token, call);
    const page = firstLoginPage({ zone: link.zone, loginUrl });
    const { cookie } = this.#options;
    const lines = cookie.lines(request.headers, `${token}.${secret}`, COOKIE_SECONDS);
    return view.response(200, page, { "Set-Cookie": lines });
  }

  async #complete(given: BootstrapRequest): Promise<RawResponse> {
    const { request, call, view } = given;
    const { login, owner, attempts, cookie } = this.#options;
    const [token = "", secret = ""] = (cookie.valueOf(request.headers) ?? "").split(".");
    if (token === "") {
      await attempts.record(call, {
        event: "bootstrap.failed",
        details: { reason: "unknown" },
      });
      return view.response(400, failedLoginPage());
    }
    const found = await openLink([token], this.#options, given);
    if (!("link" in found)) return this.#forgetting(found);
    const { link } = found;
    const { zone } = link;
    const principal = await login
      .complete(request.query, { token, secret }, call)
      .catch(async (error: unknown) => {
        // The provider refuses the code, which was used or is too old, or its token is for others.
        if (error instanceof ServiceError && REFUSALS.has(error.code)) return undefined;
        if (error instanceof ServiceError) {
          await attempts.record(call, failureOf(link, "unavailable"));
        }
        throw error;
      });
    if (principal === undefined) {
      await attempts.record(call, failureOf(link, "refused"));
      return view.response(400, failedLoginPage());
    }
    const { subjectId, username, name } = principal;
    const shown = username || name || subjectId;
    const result = await owner.make(link, subjectId, call);
    if (result === "made") return this.#leadOn(given, { zone, name: shown });
    await attempts.record(call, failureOf(link, result === "dead" ? "dead_link" : result));
    return this.#forgetting(
      result === "owned"
        ? view.response(409, ownedPage(zone, this.#options.loginPath))
        : view.response(404, deadLinkPage()),
    );
  }

  /** Sends the browser to the page of success, which can be loaded again for a while. */
  #leadOn({ request }: BootstrapRequest, owner: NewOwner): RawResponse {
    const texts = [owner.zone, owner.name.slice(0, LONGEST_NAME)];
    const value = [MADE, ...texts.map((text) => Buffer.from(text).toString("base64url"))].join(".");
    const lines = this.#options.cookie.lines(request.headers, value, MADE_SECONDS);
    return redirectResponse(BOOTSTRAP_DONE_PATH, { "Set-Cookie": lines });
  }

  /** The owner that this browser has become with its link. */
  #ownerMade({ request }: BootstrapRequest): NewOwner | undefined {
    const value = this.#options.cookie.valueOf(request.headers) ?? "";
    const [mark, ...texts] = value.split(".");
    if (mark !== MADE) return undefined;
    const [zone = "", name = ""] = texts.map((text) => Buffer.from(text, "base64url").toString());
    return { zone, name };
  }

  #forgetting(response: RawResponse): RawResponse {
    const removed = this.#options.cookie.removed();
    return { ...response, headers: { ...response.headers, "Set-Cookie": removed } };
  }
}
