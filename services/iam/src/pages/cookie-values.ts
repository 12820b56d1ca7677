import type { CallHeaders } from "svc-access/runtime";

/** The headers of a request. */
export type RequestHeaders = Pick<CallHeaders, "all">;

/** The values of a cookie, in their order: a browser may have several with a name, of different paths and hosts. */
export function cookieValues(headers: RequestHeaders, name: string): string[] {
  const found: string[] = [];
  for (const part of headers.all("cookie").join(";").split(";")) {
    const at = part.indexOf("=");
    if (at > 0 && part.slice(0, at).trim() === name) found.push(part.slice(at + 1).trim());
  }
  return found;
}

/** The first value of a cookie, as `oidc-provider` reads it. */
export function cookieOf(headers: RequestHeaders, name: string): string | undefined {
  return cookieValues(headers, name)[0];
}
