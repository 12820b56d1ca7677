/**
 * What no text that is shown needs, as the inside of a character class: control characters,
 * line and paragraph separators, and marks that turn the direction of what comes after them.
 */
export const UNPRINTABLE = String.raw`\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069`;

/**
 * Marks that nobody sees, likewise. People who write Arabic or Hebrew have some of them in their
 * names, so there they may stand. Where texts are compared by eye, as in logs, audit events and
 * findings, they may not. Only for the flags `u` and `v`.
 */
export const INVISIBLE = String.raw`\u00ad\u061c\u180e\u200b\u200e\u200f\u2060-\u2064\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}`;

/** Surrogates without their other half, likewise: they have no UTF-8. Only for the flags `u` and `v`. */
export const HALVES = String.raw`\p{Cs}`;

/** A character as JSON could write it, such as `\u202e`; one of two units as both. */
export function writtenOut(character: string): string {
  const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("");
}
