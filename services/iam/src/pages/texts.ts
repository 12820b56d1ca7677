import { Html, type HtmlValue, html } from "./html.ts";
import type { Language } from "./languages.ts";
import { MESSAGES, type MessageKey } from "./messages/messages.ts";

export type { MessageKey } from "./messages/messages.ts";

/** What is put into a text, by the names in it. It is escaped unless it is HTML. */
export type TextValues = Readonly<Record<string, HtmlValue>>;

/** The texts of pages in one language. */
export class Texts {
  readonly language: Language;
  readonly #messages: Readonly<Record<string, string>>;

  constructor(language: Language) {
    this.language = language;
    this.#messages = MESSAGES[language] ?? {};
  }

  /**
   * A text with its values.
   *
   * @example
   * ```ts
   * say("to continue to {client}", { client: name });
   * ```
   */
  readonly say = (key: MessageKey, values: TextValues = {}): Html => this.translate(key, values);

  /** The same for a text that is only known at run time; one without a translation remains English. */
  readonly translate = (text: string, values: TextValues = {}): Html => {
    const found = Object.hasOwn(this.#messages, text) ? this.#messages[text] : text;
    const parts = (found ?? text).split(/\{(\w+)\}/);
    return new Html(
      parts.map((part, index) => html`${index % 2 === 0 ? part : values[part]}`.text).join(""),
    );
  };

  /**
   * A moment, for people.
   *
   * @param time milliseconds since the epoch
   * @param timeZone as in the IANA database
   */
  readonly date = (time: number, timeZone = "UTC"): string => {
    const options = { dateStyle: "medium", timeStyle: "short", timeZone } as const;
    return new Intl.DateTimeFormat(this.language, options).format(time);
  };
}
