const LONGEST = 2048;

/** Why a text cannot be the URL of a web site, for people; undefined where it can. Empty: no web site. */
export function websiteUrlProblem(url: string): string | undefined {
  if (url === "") return undefined;
  if (url.length > LONGEST) return `must have at most ${LONGEST} characters`;
  const { protocol, username, password } = URL.canParse(url) ? new URL(url) : NOTHING;
  // Frontends make a link of it, so it must not run anything.
  const isWeb = protocol === "https:" || protocol === "http:";
  return isWeb && username === "" && password === "" && /^[\x21-\x7e]+$/.test(url)
    ? undefined
    : "must be an http or https URL without a user name";
}

const NOTHING = { protocol: "", username: "", password: "" };
