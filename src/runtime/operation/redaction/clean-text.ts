import { INVISIBLE, UNPRINTABLE, writtenOut } from "../../../common/unsafe-characters.ts";

/**
 * What a terminal or a viewer of logs would act on, among it the escape of ANSI sequences.
 * Line feeds and tabs stay: JSON writes them as `\n` and `\t`, and halves of surrogate pairs
 * as their escapes.
 */
const CLASS = `[[${UNPRINTABLE}${INVISIBLE}]--[\\t\\n]]`;
const UNSAFE = new RegExp(CLASS, "v");
const ALL_UNSAFE = new RegExp(CLASS, "gv");

/** The text with what a viewer would act on written out, such as `\u001b`. */
export function cleanText(text: string): string {
  return UNSAFE.test(text) ? text.replace(ALL_UNSAFE, writtenOut) : text;
}

/** The text on one line, without what a viewer would act on, and no longer than a number of characters. */
export function cleanLine(text: string, maxLength: number): string {
  const short = text.length > maxLength ? `${text.slice(0, maxLength)}…` : text;
  return cleanText(short).replaceAll("\n", "\\n").replaceAll("\t", "\\t");
}
