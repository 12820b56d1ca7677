import { html } from "./html.ts";
import type { Page } from "./page.ts";

/** The page for a form that was not shown in the browser that sends it, or too long ago. */
export function foreignFormPage(): Page {
  return ({ say }) => ({
    title: say("The form has expired"),
    body: html`<p>${say("Go back, load the page again, and send its form. Cookies must be allowed.")}</p>`,
  });
}
