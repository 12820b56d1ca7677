import type { RawResponse } from "svc-access/runtime";

/** The response that sends a browser on with GET. */
export function redirectResponse(
  location: string,
  headers: NonNullable<RawResponse["headers"]> = {},
): RawResponse {
  return {
    status: 303,
    headers: {
      Location: location,
      "Cache-Control": "no-store",
      "Referrer-Policy": "no-referrer",
      ...headers,
    },
  };
}
