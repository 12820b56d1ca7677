import type { ErrorResponse, RefusedRequest, ServiceError } from "svc-access/runtime";
import { PROVIDER_PATH } from "../../../config/provider-paths.ts";
import { DEVICE_START_PATH, endpointMethods, endpointPath, otherPageMethods } from "./endpoints.ts";

/** Endpoints that people open in a browser, besides those of clients. */
const FOR_PEOPLE = /^\/(?:auth|device|session)(?:\/|$)/;

/** By the HTTP status (RFC 6749, sections 4.1.2.1 and 5.2). */
const CODES: Readonly<Record<number, string>> = {
  403: "access_denied",
  429: "temporarily_unavailable",
  503: "temporarily_unavailable",
  504: "temporarily_unavailable",
};

/** What the form of an error depends on. */
export interface FailedRequest extends Pick<RefusedRequest, "path" | "requestId"> {
  readonly headers: Pick<RefusedRequest["headers"], "all">;
}

/** The body of an error of OAuth. */
export interface OAuthErrorBody {
  readonly error: string;
  readonly error_description: string;
}

/** What `error_description` may not contain. */
const UNUSABLE = /[^\x20-\x21\x23-\x5b\x5d-\x7e]/g;

/**
 * An error of the provider's endpoints that `oidc-provider` does not answer itself, in the form of OAuth.
 * Undefined for a browser that asks for a page of those that are for people.
 */
export function oauthError(
  error: ServiceError,
  { path, headers, requestId }: FailedRequest,
): ErrorResponse | undefined {
  const endpoint = endpointPath(path.slice(PROVIDER_PATH.length) || "/");
  if (
    !isForClients(endpoint) &&
    headers.all("accept").some((types) => /\btext\/html\b/i.test(types))
  ) {
    return undefined;
  }
  const allow = error.code === "METHOD_NOT_ALLOWED" ? allowOf(endpoint) : undefined;
  return {
    headers: { "Content-Type": "application/json", ...(allow && { Allow: allow }) },
    body: JSON.stringify(oauthErrorBody(error, requestId)),
  };
}

/** Whether only clients call an endpoint: a path that is not one was opened by a person, if at all. */
function isForClients(endpoint: string): boolean {
  if (endpointMethods(endpoint) === undefined) return false;
  return endpoint === DEVICE_START_PATH || !FOR_PEOPLE.test(endpoint);
}

/** The header `Allow` of an endpoint or page; undefined for what is neither. */
export function allowOf(endpoint: string): string | undefined {
  const methods = endpointMethods(endpoint) ?? otherPageMethods(endpoint);
  return methods && [...methods, "OPTIONS"].join(", ");
}

/** An error in the form of OAuth. From 500 on, it names the request by which the log has it. */
export function oauthErrorBody(
  { status, message }: Pick<ServiceError, "status" | "message">,
  requestId: string,
): OAuthErrorBody {
  const code = CODES[status] ?? (status < 500 ? "invalid_request" : "server_error");
  const description = status < 500 ? message : `${message}; the request is ${requestId}`;
  return { error: code, error_description: description.replace(UNUSABLE, "'") };
}
