import type { RawResponse } from "svc-access/runtime";
import { CLIENT_ENDPOINTS, INTROSPECTION_ENDPOINT } from "./endpoints.ts";

/** What names or authenticates a client in a form. */
const PROOFS = ["client_secret", "client_assertion"];

/**
 * The refusal of a request at an endpoint of clients that names no client, and at that of introspection of one that does not
 * authenticate: `invalid_client` (RFC 6749, section 5.2; RFC 7662, section 2.1). `oidc-provider` has `invalid_request`,
 * and describes no token to a public client, as if none were valid.
 *
 * @param endpoint of `endpointPath`
 * @param authorization the header of that name
 */
export function noAuthentication(
  endpoint: string,
  form: URLSearchParams | undefined,
  authorization: string | undefined,
): RawResponse | undefined {
  if (form === undefined || !CLIENT_ENDPOINTS.has(endpoint)) return undefined;
  if (authorization !== undefined) {
    if (/^basic(?: |$)/i.test(authorization)) return undefined;
    return refusal("the header Authorization has another scheme than Basic");
  }
  // A parameter without a value counts as left out.
  const isGiven = (name: string) => form.getAll(name).some((value) => value !== "");
  if (PROOFS.some(isGiven)) return undefined;
  if (endpoint === INTROSPECTION_ENDPOINT) {
    return refusal("a client that introspects tokens must authenticate");
  }
  if (isGiven("client_id")) return undefined;
  return refusal(
    "no client: send client_id, with the secret as HTTP Basic authentication, or client_assertion",
  );
}

function refusal(description: string): RawResponse {
  return {
    status: 401,
    headers: {
      "Content-Type": "application/json",
      "Cache-Control": "no-store",
      "WWW-Authenticate": 'Basic realm="svc-iam", charset="UTF-8"',
    },
    body: JSON.stringify({ error: "invalid_client", error_description: description }),
  };
}
