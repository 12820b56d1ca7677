/**
 * What a terminal or a viewer of logs would act on: control characters, among them
 * the escape of ANSI sequences, line and paragraph separators, and marks that turn
 * the direction of text. Line feeds and tabs stay: JSON writes them as `\n` and `\t`.
 */
const UNSAFE =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/;
const ALL_UNSAFE = new RegExp(UNSAFE.source, "g");

/** The text with what a viewer would act on written out, such as `\u001b`. */
export function cleanText(text: string): string {
  return UNSAFE.test(text) ? text.replace(ALL_UNSAFE, writtenOut) : text;
}

function writtenOut(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** The text on one line, without what a viewer would act on, and no longer than a number of characters. */
export function cleanLine(text: string, maxLength: number): string {
  const short = text.length > maxLength ? `${text.slice(0, maxLength)}…` : text;
  return cleanText(short).replaceAll("\n", "\\n").replaceAll("\t", "\\t");
}
