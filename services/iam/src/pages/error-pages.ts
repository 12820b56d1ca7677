import {
  type CallContext,
  type RawHandler,
  type RawRequest,
  type RawResponse,
  type RefusedRequest,
  ServiceError,
} from "svc-access/runtime";
import { type Html, html } from "./html.ts";
import type { Page } from "./page.ts";
import type { PagePerson } from "./page-choices.ts";
import type { PageDesign } from "./page-design.ts";
import type { PageView } from "./page-view.ts";
import type { MessageKey, Texts } from "./texts.ts";
import { waitText } from "./wait-text.ts";

/** The text of what failed in the service. */
export const SERVER_ERROR: MessageKey =
  "The service could not complete the request. Try again; if it fails again, tell its operators the number of the request.";

/** The text of what may succeed a moment later. */
export const LATER: MessageKey =
  "The service could not complete the request. Try again in a few seconds.";

type Refusal = Pick<ServiceError, "code" | "status" | "retryAfterSeconds">;

interface ErrorTexts {
  readonly title: MessageKey;
  readonly text: MessageKey;
}

const AGAIN: ErrorTexts = { title: "Try again", text: LATER };
const TEXTS: Readonly<Record<string, ErrorTexts>> = {
  RESOURCE_NOT_FOUND: { title: "There is no such page", text: "Check the address." },
  FORBIDDEN: {
    title: "The request was refused",
    text: "Go back, load the page again, and send its form. Cookies must be allowed.",
  },
  UNAUTHORIZED: { title: "You are not logged in", text: "Log in again. Cookies must be allowed." },
  PAYLOAD_TOO_LARGE: { title: "The request was refused", text: "The form is too large." },
  ABORTED: AGAIN,
};
const REFUSED: ErrorTexts = {
  title: "The request was refused",
  text: "It is not valid. Go back and try again.",
};
const TOO_MANY = 429;
const UNAVAILABLE: readonly number[] = [503, 504];

/** Says who sends a request that has failed; undefined of somebody who is not logged in. */
export type FindVisitor = (
  headers: RawRequest["headers"],
  call: CallContext,
) => PagePerson | undefined | Promise<PagePerson | undefined>;

/**
 * A handler whose errors are pages, for requests of browsers that ask for one; other clients get JSON, or what the
 * handler itself renders. The page of an error of the handler is as the person has chosen. Of what is refused before it,
 * nobody is known, and nothing is read.
 */
export function withErrorPages(
  handler: RawHandler,
  design: PageDesign,
  findVisitor: FindVisitor,
): RawHandler {
  /** By the headers of the requests that have failed, since errors are rendered without waiting. */
  const views = new WeakMap<object, PageView>();
  const formOf = (error: ServiceError, request: RefusedRequest) => {
    const own = handler.renderError?.(error, request);
    return own === undefined && wantsPage(request) ? "page" : own;
  };
  return {
    ...handler,
    async handle(request, call) {
      try {
        return await handler.handle(request, call);
      } catch (error) {
        const { method, path, query, headers } = request;
        const refused = { method, path, query, headers, requestId: call.requestId };
        const seen = serviceError(error);
        // What does not answer is not asked for the look of the page, too.
        if (!UNAVAILABLE.includes(seen.status) && formOf(seen, refused) === "page") {
          const person = () => findVisitor(headers, call);
          views.set(headers, await design.personalView(request, call, { person }));
        }
        throw error;
      }
    },
    renderError(error, request) {
      const form = formOf(error, request);
      if (form !== "page") return form;
      const view = views.get(request.headers) ?? design.view(request, request);
      const { headers = {}, body = "" } = view.response(error.status, errorPage(error));
      return { headers, body };
    },
  };
}

function serviceError(error: unknown): ServiceError {
  return error instanceof ServiceError ? error : new ServiceError("INTERNAL");
}

/** The page of an error. */
export function errorPage(error: Refusal): Page {
  const { retryAfterSeconds: seconds } = error;
  const { title, text } = textsOf(error);
  return (texts) => ({
    title: texts.say(title),
    body:
      error.status === TOO_MANY && seconds !== undefined
        ? tryAgainIn(seconds, texts)
        : html`<p>${texts.say(text)}</p>`,
  });
}

function textsOf({ code, status }: Refusal): ErrorTexts {
  if (status === TOO_MANY)
    return { title: "Too many attempts", text: "Try again in a few seconds." };
  if (UNAVAILABLE.includes(status)) return AGAIN;
  if (status >= 500) return { title: "Something went wrong", text: SERVER_ERROR };
  return TEXTS[code] ?? REFUSED;
}

/** Whether a request is that of a browser which shows what it gets. */
export function wantsPage({ headers }: Pick<RefusedRequest, "headers">): boolean {
  return headers.all("accept").some((types) => /\btext\/html\b/i.test(types));
}

/** The text of a login that is over. */
export const LOGIN_EXPIRED: MessageKey =
  "The login has expired. Go back to the application, and log in again.";

/** What an error of OAuth means for a person, by its code. */
const OAUTH_TEXTS: Readonly<Record<string, MessageKey>> = {
  access_denied: "The login was refused.",
  expired_token: LOGIN_EXPIRED,
  invalid_client: "The application that sent you here is not registered.",
  invalid_redirect_uri:
    "The application wants you to return to an address that is not registered for it.",
  invalid_scope: "The application asks for permissions that it is not allowed to have.",
  invalid_target: "The application asks for access to a service that it is not allowed to use.",
  login_required: "You are not logged in. Go back to the application, and log in.",
  server_error: SERVER_ERROR,
  temporarily_unavailable: LATER,
  unauthorized_client: "The application is not allowed to log people in this way.",
};
const OTHER_OAUTH_TEXT: MessageKey =
  "The application has sent a request that is not valid. Go back to it, and try again.";

/**
 * The page of an error of `oidc-provider`. Its description is English, and for those who made the application.
 *
 * @param code of OAuth, such as `invalid_client`
 * @param meaning the text for a person, where the code alone does not say it
 */
export function providerErrorPage(
  code: string,
  description: string | undefined,
  meaning?: MessageKey,
): Page {
  const text =
    meaning ??
    (Object.hasOwn(OAUTH_TEXTS, code) ? OAUTH_TEXTS[code] : undefined) ??
    OTHER_OAUTH_TEXT;
  const details = code === "server_error" || description === undefined ? undefined : description;
  return ({ say }) => ({
    title: say("The request was refused"),
    body: html`<p>${say(text)}</p>
<p class="quiet">${say("Error: {title}", { title: html`<code>${code}</code>` })}${details && html` – <span lang="en">${details}</span>`}</p>`,
  });
}

/**
 * The page for a form that was not shown in the browser that sends it, or too long ago.
 *
 * @param path of the page that has the form, if that can be opened anew
 */
export function foreignFormPage(path?: string): Page {
  return ({ say }) => ({
    title: say("The form has expired"),
    body:
      path === undefined
        ? html`<p>${say("Go back, load the page again, and send its form. Cookies must be allowed.")}</p>`
        : html`<p>${say("Open the page again, and send its form. Cookies must be allowed.")}</p>
<p><a class="button" href="${path}">${say("Open the page again")}</a></p>`,
  });
}

/** The response to somebody who has tried too often. */
export function slowedResponse(view: PageView, seconds: number): RawResponse {
  return view.response(
    429,
    (texts) => ({
      title: texts.say("Too many attempts"),
      body: tryAgainIn(seconds, texts),
    }),
    { "Retry-After": String(seconds) },
  );
}

function tryAgainIn(seconds: number, { say }: Texts): Html {
  const { text, values } = waitText("Try again in {seconds} s.", seconds);
  return html`<p>${say(text, values)}</p>`;
}
