import type { DescField, DescMessage, JsonValue, Registry } from "@bufbuild/protobuf";
import { leastElements } from "../wire/message-memory.ts";
import type { ElementBudget } from "./element-budget.ts";
import {
  checkMapKey,
  exactScalar,
  isLooseScalar,
  LongNumber,
  plainNumber,
  refuse,
} from "./exact-scalar.ts";
import { fieldsByName, hasOwnJsonForm, isWrapperMessage } from "./field-names.ts";
import { isDurationText, isTimeText } from "./field-text.ts";

const COMMA = 44;
const UPPER_A = 65;
const UPPER_Z = 90;

/** What reading a message from JSON needs. */
export interface JsonReading {
  readonly registry: Registry;
  /** Only who knows the messages can count all: a field mask holds elements inside of a text. */
  readonly elements: ElementBudget;
}

type JsonObject = { [key: string]: JsonValue };

/**
 * Messages of which protobuf-es takes texts that stand for nothing, or takes long to read them, and
 * those that may hold them.
 */
const LOOSE: ReadonlySet<string> = new Set(
  ["Timestamp", "Duration", "FieldMask", "Any"].map((name) => `google.protobuf.${name}`),
);

/**
 * Makes JSON exact before protobuf-es reads it, in its place: numbers become what their field
 * holds, to the last digit. What stands for nothing is refused: a day that no month has, a
 * duration with something after it, a number with a space. Counts what the JSON by itself does
 * not show to be an element.
 *
 * @throws Error where a value stands for nothing; `describeJsonProblem` says which
 * @throws ServiceError PAYLOAD_TOO_LARGE where it holds too much
 */
export function exactMessage(
  message: DescMessage,
  json: JsonValue,
  reading: JsonReading,
): JsonValue {
  if (hasOwnJsonForm(message)) return exactOwnForm(message, json, reading);
  if (!isObject(json)) return plain(json);
  const fields = fieldsByName(message);
  const keys = Object.keys(json);
  reading.elements.take(Math.max(0, leastElements(message) - keys.length));
  for (const key of keys) {
    const value = json[key] as JsonValue;
    const field = fields.get(key) ?? extensionOf(key, reading);
    const exact = field === undefined ? plain(value) : exactField(field, value, reading);
    if (exact !== value) json[key] = exact;
  }
  return json;
}

/** The same of one field. */
function exactField(field: DescField, json: JsonValue, reading: JsonReading): JsonValue {
  if (json === null) return json;
  switch (field.fieldKind) {
    case "list":
      if (!Array.isArray(json)) return plain(json);
      for (const [index, item] of json.entries()) {
        const exact = exactItem(field, field.listKind, item, reading);
        if (exact !== item) json[index] = exact;
      }
      return json;
    case "map":
      if (!isObject(json)) return plain(json);
      for (const key of Object.keys(json)) {
        checkMapKey(field.mapKey, key);
        const item = json[key] as JsonValue;
        const exact = exactItem(field, field.mapKind, item, reading);
        // Writing to an object of many keys costs more than reading it.
        if (exact !== item) json[key] = exact;
      }
      return json;
    default:
      return exactItem(field, field.fieldKind, json, reading);
  }
}

/** Whether a message may hold what must be looked at even where no number is long. */
export function isLoose(message: DescMessage, seen = new Set<DescMessage>()): boolean {
  if (LOOSE.has(message.typeName)) return true;
  // An extension may hold anything.
  if (message.proto.extensionRange.length > 0) return true;
  if (seen.has(message)) return false;
  seen.add(message);
  return message.fields.some((field) => {
    const { message: inner, scalar } = field;
    if (scalar !== undefined && isLooseScalar(scalar)) return true;
    if (field.fieldKind === "map" && isLooseScalar(field.mapKey)) return true;
    return inner !== undefined && isLoose(inner, seen);
  });
}

function exactItem(
  { message, scalar }: DescField,
  kind: "message" | "scalar" | "enum",
  json: JsonValue,
  reading: JsonReading,
): JsonValue {
  if (kind === "message" && message !== undefined) return exactMessage(message, json, reading);
  return kind === "scalar" && scalar !== undefined ? exactScalar(scalar, json) : plain(json);
}

function exactOwnForm(message: DescMessage, json: JsonValue, reading: JsonReading): JsonValue {
  switch (message.typeName) {
    case "google.protobuf.Timestamp":
      return typeof json === "string" && !isTimeText(json) ? refuse() : plain(json);
    case "google.protobuf.Duration":
      return typeof json === "string" && !isDurationText(json) ? refuse() : plain(json);
    case "google.protobuf.FieldMask":
      if (typeof json === "string") reading.elements.take(wordsOf(json));
      return plain(json);
    case "google.protobuf.Any":
      return exactAny(json, reading);
  }
  const value = isWrapperMessage(message) ? message.fields[0] : undefined;
  return value?.fieldKind === "scalar" ? exactScalar(value.scalar, json) : plain(json);
}

function exactAny(json: JsonValue, reading: JsonReading): JsonValue {
  const type = isObject(json) ? json["@type"] : undefined;
  if (!isObject(json) || typeof type !== "string") return plain(json);
  const message = reading.registry.getMessage(type.slice(type.lastIndexOf("/") + 1));
  if (message === undefined) return plain(json);
  const { value, ...rest } = json;
  if (!hasOwnJsonForm(message)) {
    // Some write an Empty as what has a form of its own, and some as a message without fields.
    const isEmpty = message.typeName === "google.protobuf.Empty" && isEmptyObject(value);
    return isEmpty ? rest : exactMessage(message, json, reading);
  }
  // protobuf-es would forget what stands beside the value.
  if (Object.keys(rest).length > 1) refuse();
  if (value !== undefined) json["value"] = exactMessage(message, value, reading);
  return json;
}

/** The words of all paths of a field mask: each becomes a piece of text of its own. */
function wordsOf(mask: string): number {
  let words = 0;
  for (let index = 0; index < mask.length; index++) {
    const code = mask.charCodeAt(index);
    if (code === COMMA || (code >= UPPER_A && code <= UPPER_Z)) words++;
  }
  return words;
}

/** JSON with numbers as JavaScript has them. */
function plain(json: JsonValue): JsonValue {
  if (typeof json !== "object" || json === null) return json;
  if (json instanceof LongNumber) return plainNumber(json);
  const items = json as JsonObject;
  for (const key of Object.keys(items)) {
    const item = items[key] as JsonValue;
    if (typeof item === "object") items[key] = plain(item);
  }
  return json;
}

function extensionOf(key: string, reading: JsonReading): DescField | undefined {
  if (!key.startsWith("[") || !key.endsWith("]")) return undefined;
  return reading.registry.getExtension(key.slice(1, -1)) as DescField | undefined;
}

function isObject(json: JsonValue): json is JsonObject {
  if (json instanceof LongNumber) return false;
  return typeof json === "object" && json !== null && !Array.isArray(json);
}

function isEmptyObject(json: JsonValue | undefined): boolean {
  return json !== undefined && isObject(json) && Object.keys(json).length === 0;
}
