/** A piece of HTML. All text in it is escaped. */
export class Html {
  /** The markup. */
  readonly text: string;

  /** @param text markup; of values from outside only what `html` has escaped */
  constructor(text: string) {
    this.text = text;
  }
}

/** What a template may contain: text is escaped, lists are joined, undefined is nothing. */
export type HtmlValue = string | number | Html | undefined | readonly HtmlValue[];

/**
 * HTML with escaped values, for text and for attributes in quotes.
 *
 * @example
 * ```ts
 * html`<p title="${name}">${name}</p>`;
 * ```
 */
export function html(parts: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  let text = parts[0] ?? "";
  for (const [index, value] of values.entries()) text += markup(value) + (parts[index + 1] ?? "");
  return new Html(text);
}

/** A name that somebody has chosen. Whichever direction it is written in, it does not turn the text around it. */
export function isolated(name: string): Html {
  return html`<bdi>${name}</bdi>`;
}

function markup(value: HtmlValue): string {
  if (value === undefined) return "";
  if (value instanceof Html) return value.text;
  if (typeof value === "object") return value.map(markup).join("");
  return String(value).replace(/[&<>"']/g, (character) => ESCAPED[character] ?? "");
}

const ESCAPED: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};
