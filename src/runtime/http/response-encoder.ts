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
import { fieldsByName, hasOwnJsonForm } from "./field-names.ts";
import { valueOf } from "./field-setter.ts";

/** A response message as JSON text. */
export type ResponseEncoder = (message: Message) => string;

/**
 * Compiles how responses are written: fields by their JSON names, and those without
 * presence also where they have their default value, as grpc-gateway does. A client
 * that reads `allowed` finds `false`, not nothing. Messages and oneofs that are not
 * set are left out.
 *
 * @throws Error where `responseBody` names no field of the response
 */
export function compileResponse(
  responseBody: string | undefined,
  output: DescMessage,
  registry: Registry,
): ResponseEncoder {
  // A registry makes protobuf-es look for extensions in each message; only Any needs one.
  const options: Partial<JsonWriteOptions> = {
    alwaysEmitImplicit: true,
    ...(mayHoldAny(output) ? { registry } : {}),
  };
  if (responseBody === undefined)
    return (message) => JSON.stringify(toJson(output, message, options));
  const field = fieldsByName(output).get(responseBody);
  if (field === undefined) {
    throw new Error(`${output.typeName} has no field "${responseBody}" to be a response`);
  }
  if (field.fieldKind === "message" && !hasOwnJsonForm(field.message)) {
    const inner = field.message;
    return (message) => {
      const value = valueOf(message, field) as Message | undefined;
      return value === undefined ? "null" : JSON.stringify(toJson(inner, value, options));
    };
  }
  return (message) => JSON.stringify(fieldJson(message, field, output, options));
}

/** The JSON of one field; null where a message or a member of a oneof is not set. */
function fieldJson(
  message: Message,
  field: DescField,
  output: DescMessage,
  options: Partial<JsonWriteOptions>,
): JsonValue {
  // The other fields are not written only to be thrown away.
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

/** Whether an Any can stand anywhere in a message. */
function mayHoldAny(message: DescMessage, seen = new Set<DescMessage>()): boolean {
  if (message.typeName === "google.protobuf.Any") return true;
  if (seen.has(message)) return false;
  seen.add(message);
  return message.fields.some((field) => {
    const inner = "message" in field ? field.message : undefined;
    return inner !== undefined && mayHoldAny(inner, seen);
  });
}
