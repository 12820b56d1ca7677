import german from "./de.json" with { type: "json" };

/** A text of the pages: its English form, with `{name}` for values. */
export type MessageKey = keyof typeof german;

/** The texts of a language by their English forms. */
export type Messages = Readonly<Record<MessageKey, string>>;

/**
 * The languages of the pages, by the first part of their tags (BCP 47): wishes are matched with that part alone.
 * English is the language of the source. `satisfies` lets no text be missing in the others.
 */
export const MESSAGES = {
  en: undefined,
  de: german,
} as const satisfies Readonly<Record<string, Messages | undefined>>;
