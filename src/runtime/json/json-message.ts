import {
  create,
  type DescField,
  type DescMessage,
  type JsonValue,
  type Message,
  mergeFromJson,
  type Registry,
} from "@bufbuild/protobuf";
import { exactMessage, isLoose } from "./exact-json.ts";
import { invalidArgument } from "./invalid-argument.ts";
import { describeJsonProblem } from "./json-problem.ts";
import { type ParsedJson, parseJson } from "./parse-json.ts";

/** Makes a message from JSON text in UTF-8; throws `ServiceError`, which says what is wrong with it. */
export type JsonDecoder = (bytes: Uint8Array) => Message;

/** Compiles how messages are read from JSON. */
export function compileJsonMessage(message: DescMessage, registry: Registry): JsonDecoder {
  const read = compileRead(message, registry);
  return (bytes) => read(parseJson(bytes));
}

/** Compiles how messages are read from the JSON of one of their fields. */
export function compileJsonField(field: DescField, registry: Registry): JsonDecoder {
  const read = compileRead(field.parent, registry);
  return (bytes) => {
    const { value, hasLongNumbers } = parseJson(bytes);
    return read({ value: { [field.jsonName]: value }, hasLongNumbers });
  };
}

function compileRead(message: DescMessage, registry: Registry): (json: ParsedJson) => Message {
  const isLooseMessage = isLoose(message);
  const options = { registry };
  return ({ value, hasLongNumbers }) => {
    let json: JsonValue = value;
    try {
      if (hasLongNumbers || isLooseMessage) json = exactMessage(message, json, registry);
      return mergeFromJson(message, create(message), json, options);
    } catch (cause) {
      throw invalidArgument(describeJsonProblem(message, json, registry), cause);
    }
  };
}
