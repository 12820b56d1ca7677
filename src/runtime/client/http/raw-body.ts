import { clearField, clone, type DescMessage, type Message } from "@bufbuild/protobuf";
import { ServiceError } from "../../error/service-error.ts";
import { valueOf } from "../../http/field-setter.ts";
import { type HttpBody, holdsHttpBody, isHttpBody } from "../../http/http-body.ts";
import { fieldsByName } from "../../json/field-names.ts";
import type { HttpRoute } from "../../service-binding.ts";

/** A `google.api.HttpBody` as HTTP carries it. */
export type RawBody = Pick<HttpBody, "contentType" | "data">;

const NOTHING: RawBody = { contentType: "", data: new Uint8Array() };

/**
 * Takes the body of a request that is a `google.api.HttpBody`; the rest goes into path and query.
 *
 * @returns `raw` undefined where the body of the route is JSON
 * @throws ServiceError INVALID_ARGUMENT for extensions, which HTTP has no place for
 */
export function takeRawBody(
  { body }: HttpRoute,
  input: DescMessage,
  message: Message,
): { rest: Message; raw: RawBody | undefined } {
  if (body === undefined) return { rest: message, raw: undefined };
  if (body === "*") {
    return { rest: message, raw: isHttpBody(input) ? checked(message as HttpBody) : undefined };
  }
  const field = fieldsByName(input).get(body);
  if (field === undefined || !holdsHttpBody(field)) return { rest: message, raw: undefined };
  const held = valueOf(message, field) as HttpBody | undefined;
  const rest = clone(input, message);
  clearField(rest, field);
  return { rest, raw: held === undefined ? NOTHING : checked(held) };
}

function checked(held: HttpBody): RawBody {
  if ((held.extensions ?? []).length > 0) {
    throw new ServiceError(
      "INVALID_ARGUMENT",
      "the extensions of a google.api.HttpBody cannot be sent over HTTP",
    );
  }
  return held;
}
