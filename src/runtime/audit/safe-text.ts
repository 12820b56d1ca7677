import { HALVES, INVISIBLE, UNPRINTABLE, writtenOut } from "../../common/unsafe-characters.ts";

/** The most UTF-16 units of a text in an event: an index of PostgreSQL holds no more than 2.7 kB. */
export const MAX_TEXT = 512;

const PLAIN = /^[\x20-\x7e]*$/;
const UNSAFE = new RegExp(`[${UNPRINTABLE}${INVISIBLE}${HALVES}]`, "gu");

/**
 * A text that any database can store, and no log or terminal misreads; longer ones are cut.
 * What is unsafe is written out, such as `\u202e`: two objects must not look the same.
 */
export function safeText(text: string): string {
  if (text.length <= MAX_TEXT && PLAIN.test(text)) return text;
  const safe = text.slice(0, MAX_TEXT).replaceAll(UNSAFE, writtenOut);
  // The cut may part a pair of surrogates.
  return safe.length <= MAX_TEXT ? safe : safe.slice(0, MAX_TEXT).replace(/\p{Cs}$/u, "\ufffd");
}
