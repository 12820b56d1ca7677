/**
 * What no text that is shown needs, as the inside of a character class: control characters,
 * line and paragraph separators, and marks that turn the direction of what stands behind them.
 */
export const UNPRINTABLE = String.raw`\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069`;

/**
 * Marks that nobody sees, likewise. People who write Arabic or Hebrew have them in their names, so
 * there they may stand. Where texts are compared by eye, as in logs and audit events, they may not.
 */
export const INVISIBLE = String.raw`\u061c\u200e\u200f\ufeff`;

/** Surrogates without their other half, likewise: they have no UTF-8. Only for the flags `u` and `v`. */
export const HALVES = String.raw`\p{Cs}`;

/** A character as JSON could write it, such as `\u202e`. */
export function writtenOut(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
