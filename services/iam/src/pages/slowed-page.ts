import type { RawResponse } from "svc-access/runtime";
import { html } from "./html.ts";
import type { PageView } from "./page-view.ts";

/** The response to somebody who has tried too often. */
export function slowedResponse(view: PageView, seconds: number): RawResponse {
  return view.response(
    429,
    ({ say }) => ({
      title: say("Too many attempts"),
      body: html`<p>${say("Try again in {seconds} seconds.", { seconds })}</p>`,
    }),
    { "Retry-After": String(seconds) },
  );
}
