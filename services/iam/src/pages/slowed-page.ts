import type { RawResponse } from "svc-access/runtime";
import { html } from "./html.ts";
import { pageHeaders, pageText } from "./page.ts";

/** The response to somebody who has tried too often. */
export function slowedResponse(seconds: number): RawResponse {
  const page = {
    title: "Too many attempts",
    body: html`<p>Try again in ${seconds} seconds.</p>`,
  };
  const headers = { ...pageHeaders(), "Retry-After": String(seconds) };
  return { status: 429, headers, body: pageText(page) };
}
