import { createHash } from "node:crypto";
import { HALVES, INVISIBLE, UNPRINTABLE, writtenOut } from "../../common/unsafe-characters.ts";

/** The most UTF-16 units of a text in an event: an index of PostgreSQL holds no more than 2.7 kB. */
export const MAX_TEXT = 512;

const PLAIN = /^[\x20-\x7e]*$/;
const UNSAFE = new RegExp(`[${UNPRINTABLE}${INVISIBLE}${HALVES}]`, "gu");

/** The units of the mark at the end of a text that was cut. */
const MARK = 13;

/**
 * A text that any database can store, and no log or terminal misreads. What is unsafe is written
 * out, such as `\u202e`, and of a text that was cut the end says so: `…` and a hash of the whole.
 * So two objects do not look the same, and whoever searches by the whole text finds it.
 *
 * @param most the most UTF-16 units
 */
export function safeText(text: string, most = MAX_TEXT): string {
  if (text.length <= most && PLAIN.test(text)) return text;
  const safe = text.slice(0, most).replaceAll(UNSAFE, writtenOut);
  if (text.length <= most && safe.length <= most) return safe;
  const hash = createHash("sha256")
    .update(text)
    .digest("hex")
    .slice(0, MARK - 1);
  // The cut may part a pair of surrogates.
  const begin = safe.slice(0, most - MARK).replace(/[\ud800-\udbff]$/, "\ufffd");
  return `${begin}\u2026${hash}`;
}
