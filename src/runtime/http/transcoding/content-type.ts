import type { CallHeaders } from "../../call/call-headers.ts";
import { ServiceError } from "../../error/service-error.ts";

const JSON_TYPE = /^application\/json[ \t]*(?=;|$)/i;
/** As in RFC 9110, section 5.6.6: a semicolon may be the last character. */
const PARAMETER =
  /;(?:[ \t]*([!#$%&'*+\-.^_`|~0-9a-z]+)=([!#$%&'*+\-.^_`|~0-9a-z]+|"(?:[^"\\]|\\.)*"))?[ \t]*/iy;
const IDENTITY = /^[ \t]*(?:identity)?[ \t]*$/i;
const UTF_8 = /^(?:utf-?8|"utf-?8")$/i;

/**
 * Refuses bodies whose type is not plain UTF-8 JSON. A body without a
 * type is refused too: a page of another origin can send one without a preflight.
 *
 * @throws ServiceError UNSUPPORTED_MEDIA_TYPE
 */
export function requireJson(headers: CallHeaders): void {
  const type = singleType(headers);
  if (type === undefined || !isJson(type)) {
    throw new ServiceError(
      "UNSUPPORTED_MEDIA_TYPE",
      "the body must have the Content-Type application/json, in UTF-8",
    );
  }
  requireIdentity(headers);
}

/**
 * The type of a body; undefined without.
 *
 * @throws ServiceError UNSUPPORTED_MEDIA_TYPE if there are several
 */
export function singleType(headers: CallHeaders): string | undefined {
  const types = headers.all("content-type");
  if (types.length > 1) {
    throw new ServiceError("UNSUPPORTED_MEDIA_TYPE", "the body must have one Content-Type");
  }
  return types[0];
}

/**
 * Refuses compressed bodies: their content could be far larger than what was sent.
 *
 * @throws ServiceError UNSUPPORTED_MEDIA_TYPE
 */
export function requireIdentity(headers: CallHeaders): void {
  for (const encoding of headers.all("content-encoding")) {
    if (!IDENTITY.test(encoding)) {
      throw new ServiceError(
        "UNSUPPORTED_MEDIA_TYPE",
        "the body must not be compressed: send no Content-Encoding",
      );
    }
  }
}

/**
 * Whether a type is plain UTF-8 JSON, which has no parameters; only a charset would say that the body is
 * something else.
 */
export function isJson(type: string): boolean {
  if (type === "application/json") return true;
  let at = JSON_TYPE.exec(type)?.[0].length;
  while (at !== undefined && at < type.length) {
    PARAMETER.lastIndex = at;
    const parameter = PARAMETER.exec(type);
    if (parameter === null) return false;
    const [text, name = "", value = ""] = parameter;
    if (name.toLowerCase() === "charset" && !UTF_8.test(value)) return false;
    at += text.length;
  }
  return at !== undefined;
}
