import {
  type RawHandler,
  type RawRequest,
  type RawResponse,
  ServiceError,
} from "svc-access/runtime";
import { html } from "./html.ts";
import type { Page } from "./page.ts";
import type { PageDesign } from "./page-design.ts";
import type { MessageKey } from "./texts.ts";

const TEXTS: Readonly<Record<string, readonly [MessageKey, MessageKey]>> = {
  RESOURCE_NOT_FOUND: ["There is no such page", "Check the address."],
  METHOD_NOT_ALLOWED: ["There is no such page", "Check the address."],
  FORBIDDEN: [
    "The request was refused",
    "Go back, load the page again, and send its form. Cookies must be allowed.",
  ],
  UNAUTHORIZED: ["You are not logged in", "Log in again. Cookies must be allowed."],
  UNAVAILABLE: [
    "Try again",
    "The service could not complete the request. Try again in a few seconds.",
  ],
  RATE_LIMITED: ["Too many attempts", "Try again in a few seconds."],
  PAYLOAD_TOO_LARGE: ["The request was refused", "The form is too large."],
};
const OTHER: readonly [MessageKey, MessageKey] = [
  "The request was refused",
  "It is not valid. Go back and try again.",
];

/** A handler whose refusals are pages, for requests of browsers that ask for one; other clients get JSON. */
export function withErrorPages(handler: RawHandler, design: PageDesign): RawHandler {
  return {
    path: handler.path,
    async handle(request, call) {
      try {
        return await handler.handle(request, call);
      } catch (error) {
        if (!(error instanceof ServiceError) || !wantsPage(request)) throw error;
        return errorResponse(error, design, request, call);
      }
    },
  };
}

function errorResponse(
  error: ServiceError,
  design: PageDesign,
  request: RawRequest,
  call: { readonly requestId: string },
): RawResponse {
  // What failed in the service is logged with its cause.
  if (error.status >= 500 && error.code !== "UNAVAILABLE") throw error;
  const { retryAfterSeconds: seconds } = error;
  const headers = seconds === undefined ? {} : { "Retry-After": String(seconds) };
  return design.view(request, call).response(error.status, errorPage(error), headers);
}

/** The page of an error. */
export function errorPage({ code }: Pick<ServiceError, "code">): Page {
  const [title, text] = TEXTS[code] ?? OTHER;
  return ({ say }) => ({ title: say(title), body: html`<p>${say(text)}</p>` });
}

function wantsPage({ headers }: RawRequest): boolean {
  return headers.all("accept").some((types) => /\btext\/html\b/i.test(types));
}
