import {
  type DescField,
  type DescMessage,
  type JsonValue,
  type Registry,
  ScalarType,
} from "@bufbuild/protobuf";
import { fieldsByName, hasOwnJsonForm } from "./field-names.ts";
import { isDurationText, isTimeText } from "./field-text.ts";
import { LongInteger } from "./long-integer.ts";

type JsonObject = { [key: string]: JsonValue };

/** What protobuf-es would take for something else than was written. */
class Inexact extends Error {}

const LONG: ReadonlySet<ScalarType> = new Set([
  ScalarType.INT64,
  ScalarType.UINT64,
  ScalarType.SINT64,
  ScalarType.FIXED64,
  ScalarType.SFIXED64,
]);

/** Messages of which protobuf-es takes texts that stand for nothing, and those that may hold them. */
const LOOSE: ReadonlySet<string> = new Set(
  ["Timestamp", "Duration", "Any"].map((name) => `google.protobuf.${name}`),
);

/**
 * Makes JSON exact before protobuf-es reads it, in its place: a long integer becomes the
 * text of a field of 64 bits, since a number would be another id, and elsewhere the number
 * that it is; a day that no month has and a duration with something behind it are refused.
 *
 * @throws Error where a value stands for nothing; `describeJsonProblem` says which
 */
export function exactMessage(message: DescMessage, json: JsonValue, registry: Registry): JsonValue {
  if (json instanceof LongInteger) return exactLeaf(message, json);
  if (hasOwnJsonForm(message)) return exactOwnForm(message, json, registry);
  if (!isObject(json)) return json;
  const fields = fieldsByName(message);
  for (const [key, value] of Object.entries(json)) {
    const field = fields.get(key) ?? extensionOf(key, registry);
    json[key] = field === undefined ? plain(value) : exactField(field, value, registry);
  }
  return json;
}

/** The same of one field. */
export function exactField(field: DescField, json: JsonValue, registry: Registry): JsonValue {
  if (json === null) return json;
  switch (field.fieldKind) {
    case "list":
      if (!Array.isArray(json)) return plain(json);
      for (const [index, item] of json.entries()) {
        json[index] = exactItem(field, field.listKind, item, registry);
      }
      return json;
    case "map":
      if (!isObject(json)) return plain(json);
      for (const [key, item] of Object.entries(json)) {
        json[key] = exactItem(field, field.mapKind, item, registry);
      }
      return json;
    default:
      return exactItem(field, field.fieldKind, json, registry);
  }
}

/** Whether a message may hold what must be looked at even where no integer is long. */
export function isLoose(message: DescMessage, seen = new Set<DescMessage>()): boolean {
  if (LOOSE.has(message.typeName)) return true;
  // An extension may hold anything.
  if (message.proto.extensionRange.length > 0) return true;
  if (seen.has(message)) return false;
  seen.add(message);
  return message.fields.some((field) => {
    const inner = "message" in field ? field.message : undefined;
    return inner !== undefined && isLoose(inner, seen);
  });
}

function exactItem(
  { message, scalar }: DescField,
  kind: "message" | "scalar" | "enum",
  json: JsonValue,
  registry: Registry,
): JsonValue {
  if (kind === "message" && message !== undefined) return exactMessage(message, json, registry);
  return kind === "scalar" ? exactScalar(scalar, json) : plain(json);
}

function exactOwnForm(message: DescMessage, json: JsonValue, registry: Registry): JsonValue {
  switch (message.typeName) {
    case "google.protobuf.Timestamp":
      return typeof json === "string" && !isTimeText(json) ? refuse() : json;
    case "google.protobuf.Duration":
      return typeof json === "string" && !isDurationText(json) ? refuse() : json;
    case "google.protobuf.Any":
      return exactAny(json, registry);
    default:
      return plain(json);
  }
}

function exactAny(json: JsonValue, registry: Registry): JsonValue {
  const type = isObject(json) ? json["@type"] : undefined;
  if (!isObject(json) || typeof type !== "string") return plain(json);
  const message = registry.getMessage(type.slice(type.lastIndexOf("/") + 1));
  if (message === undefined) return plain(json);
  if (!hasOwnJsonForm(message)) return exactMessage(message, json, registry);
  const value = json["value"];
  if (value !== undefined) json["value"] = exactMessage(message, value, registry);
  return json;
}

/** A long integer where a message is: of the wrappers, some have 64 bits. */
function exactLeaf(message: DescMessage, json: JsonValue): JsonValue {
  const value = hasOwnJsonForm(message) ? message.fields[0] : undefined;
  return exactScalar(value?.fieldKind === "scalar" ? value.scalar : undefined, json);
}

function exactScalar(scalar: ScalarType | undefined, json: JsonValue): JsonValue {
  if (!(json instanceof LongInteger)) return json;
  return scalar !== undefined && LONG.has(scalar) ? json.text : Number(json.text);
}

/** JSON with numbers as JavaScript has them. */
function plain(json: JsonValue): JsonValue {
  if (typeof json !== "object" || json === null) return json;
  if (json instanceof LongInteger) return Number(json.text);
  const items = json as JsonObject;
  for (const key of Object.keys(items)) items[key] = plain(items[key] as JsonValue);
  return json;
}

function extensionOf(key: string, registry: Registry): DescField | undefined {
  if (!key.startsWith("[") || !key.endsWith("]")) return undefined;
  return registry.getExtension(key.slice(1, -1)) as DescField | undefined;
}

function isObject(json: JsonValue): json is JsonObject {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}

function refuse(): never {
  throw new Inexact("the JSON stands for nothing");
}
