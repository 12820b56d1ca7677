/** What the texts of an account may be. Each rule says why a text is refused, for people. */
import { searchKey } from "../../ground/store/user-search-keys.ts";

const MOST_NAME_CHARACTERS = 128;
/** Neither space, control, format or combining characters, nor letters without a shape, such as the Hangul filler. */
const VISIBLE = /[^\p{Default_Ignorable_Code_Point}\p{Z}\p{Cc}\p{Cf}\p{M}\u2800]/u;
const MOST_EMAIL_BYTES = 254;
/** Of the part before the at sign (RFC 5321): servers of mail refuse a longer one. */
const MOST_LOCAL_PART_BYTES = 64;
/** A part before the at sign, and a domain of at least two labels (a part of RFC 5321). */
const EMAIL =
  /^[\p{L}\p{N}!#$%&'*+/=?^_`{|}~-]+(?:\.[\p{L}\p{N}!#$%&'*+/=?^_`{|}~-]+)*@(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?\.)+[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?$/u;
const MOST_URL_CHARACTERS = 2048;

/**
 * A user name as it is compared: the same for all letter cases and for all ways to write the same
 * characters (RFC 8265, UsernameCaseMapped). Letters of different scripts that look alike remain
 * different: whoever may create users answers for their names.
 */
export function usernameKey(username: string): string {
  return searchKey(username);
}

/** Why a text cannot be a display name, for people; undefined where it can. */
export function displayNameProblem(name: string): string | undefined {
  if (name.trim() === "") return "is required";
  if ([...name].length > MOST_NAME_CHARACTERS)
    return `must have at most ${MOST_NAME_CHARACTERS} characters`;
  if (/[\p{Cc}\p{Cs}\p{Bidi_Control}\u2028\u2029]/u.test(name)) {
    return "must not contain control characters";
  }
  if (!VISIBLE.test(name)) return "must contain at least one visible character";
  // Nobody sees it, and whoever names a group by what is shown would not find it.
  return name === name.trim() ? undefined : "must not begin or end with white space";
}

/** Why a text cannot be an e-mail address, for people; undefined where it can. */
export function emailProblem(email: string): string | undefined {
  if (email === "") return "is required";
  if (Buffer.byteLength(email) > MOST_EMAIL_BYTES)
    return `must have at most ${MOST_EMAIL_BYTES} bytes`;
  if (!EMAIL.test(email)) return "is not a valid e-mail address";
  if (Buffer.byteLength(email.slice(0, email.indexOf("@"))) > MOST_LOCAL_PART_BYTES)
    return `must have at most ${MOST_LOCAL_PART_BYTES} bytes before the @`;
  return undefined;
}

/** Why a text cannot be the URL of a picture, for people; undefined where it can. Empty: no picture. */
export function avatarUrlProblem(url: string): string | undefined {
  if (url === "") return undefined;
  if (url.length > MOST_URL_CHARACTERS)
    return `must have at most ${MOST_URL_CHARACTERS} characters`;
  // Frontends show it, so it must not run anything, and must not differ from what a person reads.
  if (!/^https:\/\/[\x21-\x7e]+$/.test(url) || /["'<>\\^`{|}]/.test(url) || !URL.canParse(url)) {
    return "must be an https URL";
  }
  const { username, password } = new URL(url);
  return username === "" && password === ""
    ? undefined
    : "must not contain a user name or password";
}
