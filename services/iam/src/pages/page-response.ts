import type { RawResponse } from "svc-access/runtime";
import { type Page, pageHeaders, pageText } from "./page.ts";

/** The response that is a page. */
export function pageResponse(
  status: number,
  page: Page,
  headers: NonNullable<RawResponse["headers"]> = {},
): RawResponse {
  return { status, headers: { ...pageHeaders(page), ...headers }, body: pageText(page) };
}

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
