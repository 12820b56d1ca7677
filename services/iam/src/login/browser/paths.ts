/** Where a login begins. */
export const LOGIN_PATH = "/v1/iam/ui/login";
/** Where a login leads that names no other page. */
export const ACCOUNT_PATH = "/v1/iam/ui/account";
/** Where the identity provider sends the browser back to. */
export const CALLBACK_PATH = "/v1/iam/oauth2/callback";
/** Where a login ends. */
export const LOGOUT_PATH = "/v1/iam/logout";

const LONGEST = 1024;
/** Printable ASCII without `\`, which browsers take for `/`; they remove tabs and line breaks. */
const WRITTEN = /^\/[\x21-\x5b\x5d-\x7e]*$/;
/** What a server behind this one may decode to `//`, `/\` or a control character. */
const DECODED = /^\/(?:\/|%2f|%5c|%[01][0-9a-f]|%7f)/i;
/** Pages that would begin or end a login again. */
const OWN: ReadonlySet<string> = new Set([LOGIN_PATH, CALLBACK_PATH, LOGOUT_PATH]);

/**
 * The address that a browser is sent to after its login.
 *
 * @param origin that of this service, the only one that it can have
 * @param given a path with its query, as the login request has it; absent, the account's page
 * @returns undefined if that is not a path of the origin
 */
export function returnAddress(origin: string, given: string | undefined): string | undefined {
  if (given === undefined || given === "") return `${origin}${ACCOUNT_PATH}`;
  if (given.length > LONGEST || !WRITTEN.test(given) || DECODED.test(given)) return undefined;
  const url = URL.parse(given, origin);
  if (url === null || url.origin !== origin) return undefined;
  // Dots may have been resolved to it.
  if (DECODED.test(url.pathname)) return undefined;
  return OWN.has(url.pathname) ? `${origin}${ACCOUNT_PATH}` : url.href;
}
