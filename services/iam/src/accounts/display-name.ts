const LONGEST = 128;

/** Why a text cannot be a display name, for people; undefined where it can. */
export function displayNameProblem(name: string): string | undefined {
  if (name.trim() === "") return "is required";
  if ([...name].length > LONGEST) return `must have at most ${LONGEST} characters`;
  if (/[\p{Cc}\p{Cs}\p{Bidi_Control}\u2028\u2029]/u.test(name)) {
    return "must not contain control characters";
  }
  return undefined;
}
