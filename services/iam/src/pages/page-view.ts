import type { RawResponse } from "svc-access/runtime";
import { Html, html } from "./html.ts";
import type { Page, PageContent } from "./page.ts";
import type { PageIcon } from "./page-icon.ts";
import { SECURITY_HEADERS } from "./security-headers.ts";
import { STYLE_SHEET, STYLE_SOURCE } from "./style-sheet.ts";
import type { Texts } from "./texts.ts";

/** Whose pages they are. */
export interface PageBrand {
  /** The name of the product. */
  readonly name: string;
  /** The logo, as a `data:` URL. */
  readonly logo?: string;
  /** What the tabs of browsers show. */
  readonly icon: PageIcon;
}

/** A color scheme that somebody prefers. */
export type PageTheme = "light" | "dark";

/** What a page needs to know of the request that it answers. */
export interface PageVisit {
  readonly texts: Texts;
  /** The id by which operators find the request in the log; empty if there is none. */
  readonly requestId: string;
  /** That of the device if absent. */
  readonly theme?: PageTheme | undefined;
}

const FIRST_ERROR = 400;

/** Shows pages to one visitor: in their language, with the name and the logo of the product. */
export class PageView {
  readonly #brand: PageBrand;
  readonly #visit: PageVisit;

  constructor(brand: PageBrand, visit: PageVisit) {
    this.#brand = brand;
    this.#visit = visit;
  }

  /** The texts of the visitor's language. */
  get texts(): Texts {
    return this.#visit.texts;
  }

  /** The same in the language and the colors that a person prefers. */
  preferring(visit: Partial<Pick<PageVisit, "texts" | "theme">>): PageView {
    return new PageView(this.#brand, { ...this.#visit, ...visit });
  }

  /** The response that is a page. */
  response(
    status: number,
    page: Page,
    headers: NonNullable<RawResponse["headers"]> = {},
  ): RawResponse {
    const shown = this.show(status, page);
    return { status, headers: { ...shown.headers, ...headers }, body: shown.text };
  }

  /** The headers and the document of a page. */
  show(status: number, page: Page) {
    const content = page(this.texts);
    return { headers: this.#headers(content), text: this.#text(status, content) };
  }

  #headers({ leadsTo, script }: PageContent): Record<string, string> {
    // Browsers apply `form-action` to the redirects of a form's response, too.
    const target = leadsTo === undefined ? undefined : URL.parse(leadsTo)?.origin;
    const targets = target === undefined || target === "null" ? "'self'" : `'self' ${target}`;
    const policy = [
      "default-src 'none'",
      `style-src ${STYLE_SOURCE}`,
      `img-src 'self'${this.#brand.logo === undefined ? "" : " data:"}`,
      ...(script === undefined ? [] : ["script-src 'self'"]),
      `form-action ${targets}`,
      "frame-ancestors 'none'",
      "base-uri 'none'",
    ];
    return {
      ...SECURITY_HEADERS,
      "Content-Type": "text/html; charset=utf-8",
      "Content-Language": this.texts.language,
      "Content-Security-Policy": policy.join("; "),
    };
  }

  #text(status: number, { title, body, isProblem, navigation, script }: PageContent): string {
    const { texts, requestId, theme } = this.#visit;
    const { say } = texts;
    const { name, logo, icon } = this.#brand;
    const isError = status >= FIRST_ERROR && requestId !== "";
    return html`<!DOCTYPE html>
<html lang="${texts.language}"${theme && html` data-theme="${theme}"`}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${isProblem ? say("Error: {title}", { title }) : title} – ${name}</title>
<link rel="icon" href="${icon.address}" type="${icon.type}">
<style>${new Html(STYLE_SHEET)}</style>
${script && html`<script src="${script}" defer></script>`}
</head>
<body${navigation && html` class="wide"`}>
${navigation && html`<a class="skip" href="#main">${say("Skip to the content")}</a>`}
<header>${logo && html`<img src="${logo}" alt="">`}<span>${name}</span></header>
${navigation}
<main id="main">
<h1>${title}</h1>
${body}
</main>
${isError ? html`<footer><p>${say("Request: {id}", { id: html`<code>${requestId}</code>` })}</p></footer>` : undefined}
</body>
</html>
`.text;
  }
}
