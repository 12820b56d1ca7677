import * as z from "zod";

const LONGEST = 2048;
/** What is too long has no other problem. */
const shortText = z
  .string()
  .max(LONGEST, { error: `must have at most ${LONGEST} characters`, abort: true });
const ONLY_HERE = "http:// is only for this machine, such as http://localhost:8080";

/** The address of this service as browsers and clients have it. */
export const originUrl = z.string().check(rule(originProblem));

/** Where a browser is sent with a code: compared exactly, so it must say exactly where. */
export const redirectUrl = shortText.check(rule(redirectProblem));

/** Where the provider itself sends something, also within a network without TLS. */
export const calledUrl = shortText.check(
  z.url({ protocol: /^https?$/, error: "must be an http or https URL" }),
);

function rule(problemOf: (value: string, url: URL | undefined) => string | undefined) {
  return z.superRefine<string>((value, context) => {
    const message = problemOf(value, URL.canParse(value) ? new URL(value) : undefined);
    if (message !== undefined) context.addIssue({ code: "custom", message });
  });
}

function originProblem(value: string, url: URL | undefined): string | undefined {
  if (url === undefined) return "must be an origin, such as https://iam.example.com";
  const scheme = schemeProblem(url);
  if (scheme !== undefined) return scheme;
  return url.origin === value ? undefined : `must be an origin: write ${url.origin}`;
}

function redirectProblem(value: string, url: URL | undefined): string | undefined {
  if (url === undefined) return "must be a URL, such as https://app.example.com/callback";
  const scheme = schemeProblem(url);
  if (scheme !== undefined) return scheme;
  // `hash` is empty for a `#` at the end, too.
  if (value.includes("#")) return "must not have a fragment: remove what begins with #";
  if (url.username !== "" || url.password !== "") {
    return "must not have a user: remove what is before @";
  }
  if (value.includes("*")) return "must not have '*': it is compared exactly, so list each URL";
  return url.href === value
    ? undefined
    : `is compared exactly, as browsers send it: ${spelling(url)}`;
}

function spelling({ href }: URL): string {
  return href.length > LONGEST ? "write its usual spelling" : `write ${href}`;
}

/** What is sent there must stay private: TLS, or this machine. */
function schemeProblem({ protocol, hostname }: URL): string | undefined {
  if (protocol === "https:") return undefined;
  if (protocol !== "http:") return `must begin with https://, not with ${protocol}; ${ONLY_HERE}`;
  const isHere =
    hostname === "localhost" || hostname === "[::1]" || /^127(?:\.\d+){3}$/.test(hostname);
  return isHere ? undefined : `must begin with https://: ${ONLY_HERE}`;
}
