import {
  create,
  type DescField,
  type DescMessage,
  type JsonValue,
  type Message,
  mergeFromJson,
  type Registry,
} from "@bufbuild/protobuf";
import { invalidArgument, ServiceError } from "../error/service-error.ts";
import type { MessageMemory } from "../wire/message-budget.ts";
import { RECURSION_LIMIT } from "../wire/message-depth.ts";
import { ElementBudget, type ElementLimits, mostElements } from "./element-budget.ts";
import { exactMessage, isLoose } from "./exact-json.ts";
import { refuseDeepJson } from "./json-depth.ts";
import { describeJsonProblem } from "./json-problem.ts";
import { jsonWeight } from "./message-weight.ts";
import { parseJson } from "./parse-json.ts";

/**
 * Makes a message from JSON text in UTF-8; throws `ServiceError`, which says what is wrong with it.
 *
 * @param memory counts the memory of the message before it is created
 */
export type JsonDecoder = (bytes: Uint8Array, memory: MessageMemory) => Message;

/** Compiles how messages are read from JSON, and bounds what that costs. */
export function compileJsonMessage(
  message: DescMessage,
  registry: Registry,
  limits: ElementLimits,
): JsonDecoder {
  return compile(message, registry, limits, (json) => json);
}

/** Compiles how messages are read from the JSON of one of their fields. */
export function compileJsonField(
  field: DescField,
  registry: Registry,
  limits: ElementLimits,
): JsonDecoder {
  return compile(field.parent, registry, limits, (json) => ({ [field.jsonName]: json }));
}

function compile(
  message: DescMessage,
  registry: Registry,
  limits: ElementLimits,
  whole: (json: JsonValue) => JsonValue,
): JsonDecoder {
  const isLooseMessage = isLoose(message);
  const most = mostElements(message);
  const options = { registry, recursionLimit: RECURSION_LIMIT };
  return (bytes, memory) => {
    const elements = new ElementBudget(limits);
    const { value, hasLongNumbers, depth } = parseJson(bytes, elements);
    let json = whole(value);
    // The JSON of a field is one deeper with its message.
    refuseDeepJson(message, json, { registry, brackets: depth + 1 });
    try {
      if (hasLongNumbers || isLooseMessage || elements.isShortOf(most)) {
        json = exactMessage(message, json, { registry, elements });
      }
      memory.take(jsonWeight(message, json, bytes));
      return mergeFromJson(message, create(message), json, options);
    } catch (cause) {
      if (cause instanceof ServiceError) throw cause;
      throw invalidArgument(describeJsonProblem(message, json, registry, limits), cause);
    }
  };
}
