import { type RawRequest, ServiceError } from "svc-access/runtime";

/**
 * The fields of a form that was sent.
 *
 * @param longest the most bytes; those of a request if absent
 * @throws ServiceError UNSUPPORTED_MEDIA_TYPE if it was sent as something else; PAYLOAD_TOO_LARGE
 */
export async function formFields(
  request: Pick<RawRequest, "headers" | "body">,
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
  return new URLSearchParams(Buffer.from(body).toString("utf8"));
}
