import type { RawResponse } from "svc-access/runtime";
import { PROVIDER_PATH } from "../../../config/provider-paths.ts";
import { redirectResponse } from "../../../pages/redirect-response.ts";
import { formFields } from "../../../pages/sent-forms.ts";
import type { ProviderRequest } from "./provider-request.ts";

/** Encoded, they are in the address afterwards, which Node.js takes up to 16 KiB of with all other headers. */
const LONGEST_FORM = 12_288;

/**
 * The parameters of an authorization request or a logout that a client had the browser send as a form: OpenID
 * Connect Core 1.0 and RP-Initiated Logout 1.0 have providers take both.
 *
 * @throws ServiceError UNSUPPORTED_MEDIA_TYPE or PAYLOAD_TOO_LARGE
 */
export function formOfClient(request: ProviderRequest): Promise<URLSearchParams> {
  return formFields(request, LONGEST_FORM);
}

/**
 * Sends the browser to the address with the same parameters. The form comes from the page of another site, and so
 * without our cookies, which are `SameSite=Lax`: it would seem that nobody is logged in. With the address they come.
 */
export function asAddress(endpoint: string, form: URLSearchParams): RawResponse {
  return redirectResponse(`${PROVIDER_PATH}${endpoint}?${form}`);
}
