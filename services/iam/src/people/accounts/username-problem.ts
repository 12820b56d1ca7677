/** What a user name may be, so that no two names of different users look the same (RFC 8265). */
import { directionProblem } from "./name-direction.ts";

const MOST_CHARACTERS = 64;
const FORM = /^[\p{L}\p{N}](?:[\p{L}\p{N}\p{M}._@+-]*[\p{L}\p{N}])?\p{M}*$/u;
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/u;
/** Letters and digits of another width, which RFC 8265 maps: they are how some keyboards write plain ones. */
const OTHER_WIDTH = /(?=[\uff01-\uffee])[\p{L}\p{N}]/gu;
/** Letters, digits and marks of the IdentifierClass of RFC 8264, with its exceptions; and our ASCII. */
const IDENTIFIER =
  /^(?:(?![\u0640\u07fa\u302e\u302f\u3031-\u3035\u303b])[\p{Ll}\p{Lu}\p{Lo}\p{Lm}\p{Nd}\p{Mn}\p{Mc}\u3007._@+-])*$/u;
/** They join to syllables, which have characters of their own. */
const OLD_HANGUL_JAMO = /[\u1100-\u11ff\ua960-\ua97c\ud7b0-\ud7fb]/;

/**
 * Why a text cannot be the name of a new user, or a new name, for people; undefined where it can. Logins do not
 * ask: users keep the names that they have.
 */
export function usernameProblem(username: string): string | undefined {
  if (username === "") return "is required";
  if ([...username].length > MOST_CHARACTERS)
    return `must have at most ${MOST_CHARACTERS} characters`;
  if (INVISIBLE.test(username)) return "must not contain invisible characters";
  if (!FORM.test(username)) {
    return "must consist of letters, digits and . _ @ + -, and begin and end with a letter or digit";
  }
  const name = username.replace(OTHER_WIDTH, plain);
  if (!isIdentifier(name)) {
    return "must have the plain form of each letter and digit, such as fi in place of ﬁ";
  }
  return directionProblem(name);
}

function isIdentifier(name: string): boolean {
  return (
    IDENTIFIER.test(name) &&
    !OLD_HANGUL_JAMO.test(name) &&
    [...name].every((character) => plain(character) === character)
  );
}

function plain(text: string): string {
  return text.normalize("NFKC");
}
