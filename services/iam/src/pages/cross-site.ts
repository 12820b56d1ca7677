import type { RawRequest } from "svc-access/runtime";

/**
 * Whether a page of another site makes a browser send a form.
 *
 * @param own the origin of this service
 */
export function isFromAnotherSite(
  { headers, method }: Pick<RawRequest, "headers" | "method">,
  own: string,
): boolean {
  if (method === "GET" || method === "HEAD") return false;
  const sites = headers.all("sec-fetch-site");
  if (sites.some((site) => site !== "same-origin")) return true;
  // Our pages have `Referrer-Policy: no-referrer`, and browsers hide their origin then.
  const mayHide = sites.length === 1;
  return headers.all("origin").some((origin) => origin !== own && !(mayHide && origin === "null"));
}
