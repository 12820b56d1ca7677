import {
  create,
  type DescField,
  type DescMessage,
  type JsonValue,
  type JsonWriteOptions,
  type Message,
  type MessageInitShape,
  type Registry,
  toJson,
} from "@bufbuild/protobuf";
import { StartUpError } from "../../error/start-up-error.ts";
import { fieldsByName, hasOwnJsonForm } from "../../json/field-names.ts";
import { valueOf } from "../../json/field-setter.ts";
import {
  DEFAULT_TYPE,
  type HttpBody,
  holdsHttpBody,
  isHttpBody,
  mediaTypeOf,
} from "../../json/http-body.ts";
import { compileJsonText, jsonWriting } from "../../json/json-text.ts";

/** A response message over HTTP. */
export interface EncodedResponse {
  readonly contentType: string;
  readonly body: string | Uint8Array;
}

/** How the responses of a route are written. */
export interface ResponseEncoder {
  /** Whether each response brings its own type, as `google.api.HttpBody` does; else it is JSON. */
  readonly isRaw: boolean;
  encode(message: Message): EncodedResponse;
}

const JSON_TYPE = "application/json";
const NO_BYTES = new Uint8Array();

/**
 * Compiles how responses are written: as JSON, but for a `google.api.HttpBody`, which is what it
 * holds.
 *
 * @throws StartUpError if `responseBody` names no field of the response
 */
export function compileResponse(
  responseBody: string | undefined,
  output: DescMessage,
  registry: Registry,
): ResponseEncoder {
  const field = responseBody === undefined ? undefined : fieldsByName(output).get(responseBody);
  if (responseBody !== undefined && field === undefined) {
    throw new StartUpError([
      `${output.typeName} has no field "${responseBody}" to be a response: run buf generate again`,
    ]);
  }
  if (field === undefined ? isHttpBody(output) : holdsHttpBody(field)) {
    return {
      isRaw: true,
      encode: (message) => raw(field === undefined ? message : valueOf(message, field)),
    };
  }
  const text = compileJson(field, output, registry);
  return {
    isRaw: false,
    encode: (message) => ({ contentType: JSON_TYPE, body: text(message) }),
  };
}

/** @throws Error if the handler set an invalid content type */
function raw(message: unknown): EncodedResponse {
  if (message === undefined) return { contentType: DEFAULT_TYPE, body: NO_BYTES };
  const contentType = mediaTypeOf(message as HttpBody);
  if (contentType === undefined) {
    throw new Error(
      "the handler returned a google.api.HttpBody whose content_type is not a media type",
    );
  }
  return { contentType, body: (message as HttpBody).data };
}

function compileJson(
  field: DescField | undefined,
  output: DescMessage,
  registry: Registry,
): (message: Message) => string {
  if (field === undefined) return compileJsonText(output, registry);
  if (field.fieldKind === "message" && !hasOwnJsonForm(field.message)) {
    const write = compileJsonText(field.message, registry);
    return (message) => {
      const value = valueOf(message, field) as Message | undefined;
      return value === undefined ? "null" : write(value);
    };
  }
  const options = jsonWriting(output, registry);
  return (message) => JSON.stringify(fieldJson(message, field, output, options));
}

/** The JSON of one field; null where a message or a member of a oneof is not set. */
function fieldJson(
  message: Message,
  field: DescField,
  output: DescMessage,
  options: Partial<JsonWriteOptions>,
): JsonValue {
  // The other fields are not written, as they would be discarded.
  const value = valueOf(message, field);
  const { oneof, localName } = field;
  const properties =
    value === undefined
      ? {}
      : oneof === undefined
        ? { [localName]: value }
        : { [oneof.localName]: { case: localName, value } };
  const alone = create(output, properties as MessageInitShape<DescMessage>);
  const json = toJson(output, alone, options) as { [key: string]: JsonValue };
  return json[field.jsonName] ?? null;
}
