import { searchKey } from "../store/user-search-keys.ts";

const LONGEST = 64;
const FORM = /^[\p{L}\p{N}](?:[\p{L}\p{N}\p{M}._@+-]*[\p{L}\p{N}\p{M}])?$/u;

/** Why a text cannot be a user name, for people; undefined where it can. */
export function usernameProblem(username: string): string | undefined {
  if (username === "") return "is required";
  if ([...username].length > LONGEST) return `must have at most ${LONGEST} characters`;
  if (!FORM.test(username)) {
    return "must consist of letters, digits and . _ @ + -, and begin and end with a letter or digit";
  }
  return undefined;
}

/**
 * A user name as it is compared: the same for all letter cases and for all ways to write the same
 * characters (RFC 8265, UsernameCaseMapped). Letters of different scripts that look alike remain
 * different: whoever may create users answers for their names.
 */
export function usernameKey(username: string): string {
  return searchKey(username);
}
