const LONGEST = 254;
/** A part before the at sign, and a domain of at least two labels (a part of RFC 5321). */
const FORM =
  /^[\p{L}\p{N}!#$%&'*+/=?^_`{|}~-]+(?:\.[\p{L}\p{N}!#$%&'*+/=?^_`{|}~-]+)*@(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?\.)+[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?$/u;

/** Why a text cannot be an e-mail address, for people; undefined where it can. */
export function emailProblem(email: string): string | undefined {
  if (email === "") return "is required";
  if (Buffer.byteLength(email) > LONGEST) return `must have at most ${LONGEST} bytes`;
  if (!FORM.test(email)) return "is not a valid e-mail address";
  return undefined;
}
