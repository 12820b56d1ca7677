/**
 * Characters that displayed text does not need, as the inside of a character class: control
 * characters, line and paragraph separators, and marks that change the direction of text.
 */
export const UNPRINTABLE = String.raw`\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069`;

/**
 * Invisible marks, as the inside of a character class. Names in Arabic or Hebrew may contain some
 * of them. Text that people compare by eye, such as logs, audit events and findings, may not.
 * Only for the flags `u` and `v`.
 */
export const INVISIBLE = String.raw`\u00ad\u061c\u180e\u200b\u200e\u200f\u2060-\u2064\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}`;

/** Lone surrogates, which UTF-8 cannot encode, as the inside of a character class. Only for the flags `u` and `v`. */
export const HALVES = String.raw`\p{Cs}`;

/** The JSON escape of a character, such as `\u202e`; a surrogate pair has two. */
export function writtenOut(character: string): string {
  const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("");
}

const UNSAFE = new RegExp(`[${UNPRINTABLE}${INVISIBLE}${HALVES}]`, "gu");
/** Text that needs no escapes, as most text does. */
const PLAIN = /^(?!\s*::)(?:[\x20-\x22\x24-\x7e]|#(?!#))*$/;

/**
 * Untrusted text as one line that is safe for terminals and CI systems:
 * characters that they would act on are escaped, such as `\u001b`.
 *
 * So are `::` at the start of a line and `##` anywhere, with which workflow
 * runners mark commands.
 */
export function printable(text: string): string {
  if (PLAIN.test(text)) return text;
  return text
    .replace(UNSAFE, writtenOut)
    .replaceAll("##", "#\\u0023")
    .replace(/^(\s*):(?=:)/, "$1\\u003a");
}

/** Makes each line of a text printable. */
export function printableLines(text: string): string {
  return text.split(/\r?\n/).map(printable).join("\n");
}

/** A value as indented JSON with the same characters escaped, which does not change its meaning. */
export function printableJson(value: unknown): string {
  return safeJson(JSON.stringify(value, undefined, 2));
}

/** A value as printable JSON on one line. */
export function printableJsonLine(value: unknown): string {
  return safeJson(JSON.stringify(value));
}

/** Text that is the same in JSON, as most text is. */
const PLAIN_JSON_TEXT = /^[\x20\x21\x24-\x5b\x5d-\x7e…]*$/;

/** Text as a printable JSON string. */
export function printableJsonText(text: string): string {
  return PLAIN_JSON_TEXT.test(text) ? `"${text}"` : printableJsonLine(text);
}

/** Characters to escape; most JSON has none. */
const NOT_PLAIN_JSON = /[^\n\x20-\x7e…]/;

/** JSON outside strings is harmless, and inside strings an escape means the same character. */
function safeJson(json: string): string {
  const plain = NOT_PLAIN_JSON.test(json) ? writeOut(json) : json;
  return plain.replaceAll("##", "#\\u0023");
}

function writeOut(json: string): string {
  return json.replace(UNSAFE, (character) =>
    character === "\n" ? character : writtenOut(character),
  );
}
