import { type CallHeaders, ServiceError } from "svc-access/runtime";

/** The start of the names of all cookies here: the host alone sets them, and only over TLS. */
const PREFIX = "__Host-iam_";
/** The cookie of a session. */
export const SESSION_COOKIE = `${PREFIX}login`;
/** The start of the names of the cookies of logins under way. */
export const PENDING_COOKIE = `${PREFIX}pending_`;

const ATTRIBUTES = "Secure; HttpOnly; SameSite=Lax";

/** The cookies of a request with a name that begins so, in their order. */
export function cookiesOf(headers: CallHeaders, start: string): [name: string, value: string][] {
  const found: [string, string][] = [];
  for (const part of headers.all("cookie").join(";").split(";")) {
    const at = part.indexOf("=");
    const name = part.slice(0, Math.max(at, 0)).trim();
    if (name.startsWith(start)) found.push([name, part.slice(at + 1).trim()]);
  }
  return found;
}

/**
 * The value of a cookie; undefined if the request has none.
 *
 * @throws ServiceError UNAUTHORIZED if it has several: which one the browser was given is not known
 */
export function cookieOf(headers: CallHeaders, name: string): string | undefined {
  const found = cookiesOf(headers, name).filter(([one]) => one === name);
  if (found.length > 1) throw new ServiceError("UNAUTHORIZED", "the session's cookie comes twice");
  return found[0]?.[1];
}

/** The header `Set-Cookie` of a cookie that no script, no other site's form and no other host has. */
export function cookieLine(name: string, value: string, seconds: number): string {
  return `${name}=${value}; Max-Age=${Math.max(0, Math.floor(seconds))}; Path=/; ${ATTRIBUTES}`;
}

/** The header `Set-Cookie` that removes a cookie. */
export function removedCookie(name: string): string {
  return `${name}=; Max-Age=0; Path=/; ${ATTRIBUTES}`;
}
