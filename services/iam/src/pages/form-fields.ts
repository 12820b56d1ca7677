import { type RawRequest, ServiceError } from "svc-access/runtime";

/**
 * The fields of a form that was sent.
 *
 * @throws ServiceError UNSUPPORTED_MEDIA_TYPE if it was sent as something else
 */
export async function formFields(
  request: Pick<RawRequest, "headers" | "body">,
): Promise<URLSearchParams> {
  const type = request.headers.all("content-type").join();
  if (!/^application\/x-www-form-urlencoded(?:;|$)/i.test(type)) {
    throw new ServiceError(
      "UNSUPPORTED_MEDIA_TYPE",
      "send the form as application/x-www-form-urlencoded",
    );
  }
  return new URLSearchParams(Buffer.from(await request.body()).toString("utf8"));
}
