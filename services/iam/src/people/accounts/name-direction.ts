/**
 * The Bidi Rule of RFC 8265 (RFC 5893, section 2) for user names, and a little more: two names with the same letters
 * and digits in another order, such as א1 and 1א, can look the same. With it no name has Arabic-Indic digits of both
 * kinds, which the contextual rules of RFC 5892 forbid (A.8, A.9); what the others of them are about is not a letter or
 * digit, or invisible, and in no user name.
 */

/**
 * Where letters have the Bidi_Class R or AL, and no others: those of DerivedBidiClass.txt of Unicode 14.0, with its
 * defaults for letters of later versions.
 */
const BLOCKS = String.raw`[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]`;
const LETTER = String.raw`(?=${BLOCKS})\p{L}`;
/** The digits that a name from right to left can have; the first and the third are also in other names. */
const DIGITS = [
  "0-9",
  String.raw`\u0660-\u0669`,
  String.raw`\u06f0-\u06f9`,
  String.raw`\u07c0-\u07c9`,
  String.raw`\u{10d30}-\u{10d39}`,
  String.raw`\u{10d40}-\u{10d49}`,
  String.raw`\u{1e950}-\u{1e959}`,
];
/** Those with the Bidi_Class NSM: the others are written from left to right. */
const MARK = String.raw`(?![\u0cbf\u0cc6\u{11a07}\u{11a08}\u{11c3f}])\p{Mn}`;

const FROM_RIGHT = new RegExp(String.raw`(?=${BLOCKS})(?![\u06f0-\u06f9])[\p{L}\p{Nd}]`, "u");
const FORMS = DIGITS.map(
  (digits) => new RegExp(`^${LETTER}(?:${LETTER}|[${digits}]|${MARK}|[._@+-])*$`, "u"),
);

/**
 * Why a user name, whose characters may be in one, can be read in two orders; undefined where it cannot.
 */
export function directionProblem(name: string): string | undefined {
  return !FROM_RIGHT.test(name) || FORMS.some((form) => form.test(name))
    ? undefined
    : "must, with right-to-left letters or digits, begin with such a letter, and have no other letters and one kind of digits";
}
