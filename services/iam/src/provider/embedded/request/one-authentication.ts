import { ServiceError } from "svc-access/runtime";
import { CLIENT_ENDPOINTS } from "./endpoints.ts";

/** What authenticates a client in a form. */
const IN_FORM = ["client_secret", "client_assertion"];

/**
 * Refuses a request in which a client authenticates in two ways (RFC 6749, section 2.3). `oidc-provider` does not read
 * `client_secret`, since a secret comes as HTTP Basic authentication, and would not see it beside that.
 *
 * @param endpoint of `endpointPath`
 * @param authorization the header of that name
 * @throws ServiceError INVALID_ARGUMENT
 */
export function refuseSecondAuthentication(
  endpoint: string,
  form: URLSearchParams | undefined,
  authorization: string | undefined,
): void {
  if (form === undefined || !CLIENT_ENDPOINTS.has(endpoint)) return;
  // A parameter without a value counts as left out.
  const sent = IN_FORM.filter((name) => form.getAll(name).some((value) => value !== ""));
  if (authorization !== undefined) sent.unshift("the header Authorization");
  if (sent.length < 2) return;
  throw new ServiceError(
    "INVALID_ARGUMENT",
    `the client authenticates by ${sent.join(" and ")}: send one of them`,
  );
}
