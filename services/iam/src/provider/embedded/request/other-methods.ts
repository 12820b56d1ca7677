import { type RawResponse, ServiceError } from "svc-access/runtime";
import { errorPage } from "../../../pages/error-pages.ts";
import type { PageView } from "../../../pages/page-view.ts";
import { endpointMethods, otherPageMethods } from "./endpoints.ts";
import { allowOf, type FailedRequest, oauthError } from "./oauth-error.ts";

/**
 * The response to OPTIONS, and to a method that an endpoint does not have, which `oidc-provider` would answer as a
 * page that there is not. Preflights of CORS are answered before, by the server.
 *
 * @param endpoint the path below the issuer
 * @returns undefined for the methods that it has
 * @throws ServiceError RESOURCE_NOT_FOUND for what is not an endpoint
 */
export async function otherMethod(
  endpoint: string,
  method: string,
  request: FailedRequest,
  view: () => Promise<PageView>,
): Promise<RawResponse | undefined> {
  const own = endpointMethods(endpoint);
  const methods = own ?? otherPageMethods(endpoint);
  const Allow = allowOf(endpoint);
  // Those of other pages come here with other methods only.
  if (
    methods === undefined ||
    Allow === undefined ||
    (own === undefined && methods.includes(method))
  ) {
    throw new ServiceError("RESOURCE_NOT_FOUND", "there is no such page");
  }
  if (method === "OPTIONS") return { status: 204, headers: { Allow } };
  if (methods.includes(method)) return undefined;
  const error = new ServiceError("METHOD_NOT_ALLOWED");
  const { headers, body } = oauthError(error, request) ?? {};
  if (body === undefined) return (await view()).response(error.status, errorPage(error), { Allow });
  return { status: error.status, headers: { ...headers, "Cache-Control": "no-store" }, body };
}
