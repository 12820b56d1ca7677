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
import { isObject, type JsonObject } from "./json-parts.ts";

const COMMA = 44;
const UPPER_A = 65;
const UPPER_Z = 90;

/** The inputs for reading a message from JSON. */
export interface JsonReading {
  readonly registry: Registry;
  /** Counting all needs the message types: a field mask has elements inside a text. */
  readonly elements: ElementBudget;
}

/**
 * Messages for which protobuf-es accepts invalid texts, or is slow to read them, and messages that
 * may contain them.
 */
const LOOSE: ReadonlySet<string> = new Set(
  ["Timestamp", "Duration", "FieldMask", "Any"].map((name) => `google.protobuf.${name}`),
);

/**
 * Makes JSON exact before protobuf-es reads it, in place: numbers become the exact value of their
 * field. Invalid values are refused: a day that no month has, a duration with trailing text, a
 * number with a space. Counts elements that the JSON itself does not show.
 *
 * @throws Error if a value is invalid; `describeJsonProblem` says which
 * @throws ServiceError PAYLOAD_TOO_LARGE if it has too many elements
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
        // Writing to an object with many keys costs more than reading it.
        if (exact !== item) json[key] = exact;
      }
      return json;
    default:
      return exactItem(field, field.fieldKind, json, reading);
  }
}

/** Whether a message may contain values that must be checked even if no number is long. */
export function isLoose(message: DescMessage, seen = new Set<DescMessage>()): boolean {
  if (LOOSE.has(message.typeName)) return true;
  // An extension may contain anything.
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
    // Some writers treat an Empty as a type with a form of its own, and some as a message without
    // fields.
    const isEmpty = message.typeName === "google.protobuf.Empty" && isEmptyObject(value);
    return isEmpty ? rest : exactMessage(message, json, reading);
  }
  // protobuf-es would ignore members besides the value.
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

/** JSON with JavaScript numbers. */
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

function isEmptyObject(json: JsonValue | undefined): boolean {
  return json !== undefined && isObject(json) && Object.keys(json).length === 0;
}
