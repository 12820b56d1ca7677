import { type RawRequest, ServiceError } from "svc-access/runtime";

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

/**
 * The fields of a form that was sent.
 *
 * @param longest the most bytes; those of a request if absent
 * @throws ServiceError UNSUPPORTED_MEDIA_TYPE if it was sent as something else; PAYLOAD_TOO_LARGE
 */
export async function formFields(
  request: { readonly headers: Pick<RawRequest["headers"], "all"> } & Pick<RawRequest, "body">,
  longest = Number.POSITIVE_INFINITY,
): Promise<URLSearchParams> {
  const type = request.headers.all("content-type").join();
  if (!/^application\/x-www-form-urlencoded(?:;|$)/i.test(type)) {
    throw new ServiceError(
      "UNSUPPORTED_MEDIA_TYPE",
      "send the form as application/x-www-form-urlencoded",
    );
  }
  const body = await request.body();
  if (body.length > longest) {
    throw new ServiceError("PAYLOAD_TOO_LARGE", `a form has at most ${longest} bytes`);
  }
  return formParameters(body);
}

/**
 * The names and values of a form, always UTF-8: this type of body has no `charset` (URL standard), and a
 * byte order mark is part of the first name. `URLSearchParams` drops one question mark at the start, and
 * a form may begin with one.
 */
export function formParameters(body: Uint8Array): URLSearchParams {
  return new URLSearchParams(`?${Buffer.from(body).toString("utf8")}`);
}
