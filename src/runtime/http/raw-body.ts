import { create, type DescMessage, type Message } from "@bufbuild/protobuf";
import { fieldsByName } from "../json/field-names.ts";
import { requireIdentity, singleType } from "./content-type.ts";
import { childOf } from "./field-setter.ts";
import { type HttpBody, isHttpBody } from "./http-body.ts";
import type { RequestParts } from "./request-parts.ts";

/**
 * Compiles how a body is read that is a `google.api.HttpBody`: as it came, with its
 * Content-Type. A field is set where either was sent.
 *
 * @returns undefined where the body is JSON
 */
export function compileRawBody(
  body: string,
  input: DescMessage,
): ((parts: RequestParts) => Promise<Message>) | undefined {
  if (body === "*") {
    if (!isHttpBody(input)) return undefined;
    return async (parts) => {
      const request = create(input);
      await readInto(request as HttpBody, parts);
      return request;
    };
  }
  const field = fieldsByName(input).get(body);
  if (field?.fieldKind !== "message" || !isHttpBody(field.message)) return undefined;
  return async (parts) => {
    const request = create(input);
    if (parts.hasBody || singleType(parts.headers) !== undefined) {
      await readInto(childOf(request, field) as HttpBody, parts);
    }
    return request;
  };
}

async function readInto(target: HttpBody, parts: RequestParts): Promise<void> {
  target.contentType = singleType(parts.headers) ?? "";
  if (!parts.hasBody) return;
  requireIdentity(parts.headers);
  const { buffer, byteOffset, length } = await parts.readBody();
  parts.memory.take(length);
  // As messages have their bytes, over either transport.
  target.data = new Uint8Array(buffer, byteOffset, length);
}
