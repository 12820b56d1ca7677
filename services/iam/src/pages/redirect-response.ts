import type { RawResponse } from "svc-access/runtime";
import { SECURITY_HEADERS } from "./security-headers.ts";

/** The response that sends a browser on with GET. */
export function redirectResponse(
  location: string,
  headers: NonNullable<RawResponse["headers"]> = {},
): RawResponse {
  return { status: 303, headers: { Location: location, ...SECURITY_HEADERS, ...headers } };
}
