import { type Html, html } from "./html.ts";

/** A page for people, without scripts and styles. */
export interface Page {
  readonly title: string;
  readonly body: Html;
  /** Where its forms may lead after their redirects, besides this origin. */
  readonly leadsTo?: string | undefined;
}

/** The headers of a page. */
export function pageHeaders({ leadsTo }: Pick<Page, "leadsTo"> = {}): Record<string, string> {
  // Browsers apply `form-action` to the redirects of a form's response, too.
  const target = leadsTo === undefined ? undefined : URL.parse(leadsTo)?.origin;
  const targets = target === undefined || target === "null" ? "'self'" : `'self' ${target}`;
  return {
    "Content-Type": "text/html; charset=utf-8",
    "Content-Security-Policy": `default-src 'none'; form-action ${targets}; frame-ancestors 'none'; base-uri 'none'`,
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Cache-Control": "no-store",
  };
}

/** The document of a page. */
export function pageText({ title, body }: Page): string {
  return html`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
</head>
<body>
<main>
<h1>${title}</h1>
${body}
</main>
</body>
</html>
`.text;
}
