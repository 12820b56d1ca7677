import { isCommonPassword } from "./common-passwords.ts";

/** Characters, as a person counts them. */
const SHORTEST = 12;
/** Bytes: enough for any sentence, little for the one who hashes it. */
const LONGEST = 512;
/** "aaaaaaaaaaaa" and "abababababab" have no more. */
const FEWEST_CHARACTERS = 5;

/** Whose password it is: what it may not consist of. */
export interface PasswordOwner {
  readonly username: string;
  readonly email: string;
}

/**
 * Why a password may not be set, for the user to read; undefined where it may.
 */
export async function passwordProblem(
  password: string,
  { username, email }: PasswordOwner,
): Promise<string | undefined> {
  // First: the time that normalization takes grows with the square of the length.
  if (Buffer.byteLength(password) > LONGEST) return `must have at most ${LONGEST} bytes`;
  const characters = [...password.normalize("NFC")];
  if (characters.length < SHORTEST) return `must have at least ${SHORTEST} characters`;
  if (/[\u0000-\u001f\u007f]/.test(password)) return "must not contain control characters";
  if (/\p{Cs}/u.test(password)) return "must be valid Unicode";
  if (new Set(characters).size < FEWEST_CHARACTERS) {
    return `must have at least ${FEWEST_CHARACTERS} different characters`;
  }
  const lower = password.toLowerCase();
  const own = [username, email, email.split("@")[0] ?? ""].map((name) => name.toLowerCase());
  if (own.some((name) => name.length > 2 && isMostly(lower, name))) {
    return "must not consist of the user name or the e-mail address";
  }
  if (await isCommonPassword(password)) return "is one of the common ones, which are guessed first";
  return undefined;
}

/** Whether hardly anything remains of a text without a name. */
function isMostly(text: string, name: string): boolean {
  return text.includes(name) && text.replaceAll(name, "").length < SHORTEST / 2;
}
