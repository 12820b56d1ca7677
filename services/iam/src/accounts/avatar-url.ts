const LONGEST = 2048;

/** Why a text cannot be the URL of a picture, for people; undefined where it can. Empty: no picture. */
export function avatarUrlProblem(url: string): string | undefined {
  if (url === "") return undefined;
  if (url.length > LONGEST) return `must have at most ${LONGEST} characters`;
  // Frontends show it, so it must not run anything, and must not differ from what a person reads.
  if (!/^https:\/\/[\x21-\x7e]+$/.test(url) || /["'<>\\^`{|}]/.test(url) || !URL.canParse(url)) {
    return "must be an https URL";
  }
  const { username, password } = new URL(url);
  return username === "" && password === ""
    ? undefined
    : "must not contain a user name or password";
}
