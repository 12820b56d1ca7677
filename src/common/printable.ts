import { HALVES, INVISIBLE, UNPRINTABLE, writtenOut } from "./unsafe-characters.ts";

const UNSAFE = new RegExp(`[${UNPRINTABLE}${INVISIBLE}${HALVES}]`, "gu");
/** Most texts end here. */
const PLAIN = /^(?!\s*::)(?:[\x20-\x22\x24-\x7e]|#(?!#))*$/;

/**
 * Text of whatever origin as one line that a terminal shows and a CI system
 * passes on: what they would act on is written out, such as `\u001b`.
 *
 * Beside characters that is `::` at the begin of a line and `##` anywhere, by
 * which runners of workflows know their commands.
 */
export function printable(text: string): string {
  if (PLAIN.test(text)) return text;
  return text
    .replace(UNSAFE, writtenOut)
    .replaceAll("##", "#\\u0023")
    .replace(/^(\s*):(?=:)/, "$1\\u003a");
}

/** The same of a text of several lines, each of which is one afterwards. */
export function printableLines(text: string): string {
  return text.split(/\r?\n/).map(printable).join("\n");
}

/** A value as indented JSON with the same characters written out, which changes nothing of what it says. */
export function printableJson(value: unknown): string {
  return safeJson(JSON.stringify(value, undefined, 2));
}

/** The same on one line. */
export function printableJsonLine(value: unknown): string {
  return safeJson(JSON.stringify(value));
}

/** Where this finds nothing, as in most JSON, nothing is to be written out. */
const NOT_PLAIN_JSON = /[^\n\x20-\x7e…]/;

/** What JSON holds outside of its strings is harmless, and in them an escape is the character. */
function safeJson(json: string): string {
  const plain = NOT_PLAIN_JSON.test(json) ? writeOut(json) : json;
  return plain.replaceAll("##", "#\\u0023");
}

function writeOut(json: string): string {
  return json.replace(UNSAFE, (character) =>
    character === "\n" ? character : writtenOut(character),
  );
}
