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
