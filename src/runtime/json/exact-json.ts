import type { DescField, DescMessage, JsonValue, Registry } from "@bufbuild/protobuf";
import { checkMapKey, exactScalar, isLooseScalar, plainNumber, refuse } from "./exact-scalar.ts";
import { fieldsByName, hasOwnJsonForm, isWrapperMessage } from "./field-names.ts";
import { isDurationText, isTimeText } from "./field-text.ts";
import { LongNumber } from "./long-number.ts";

type JsonObject = { [key: string]: JsonValue };

/** Messages of which protobuf-es takes texts that stand for nothing, and those that may hold them. */
const LOOSE: ReadonlySet<string> = new Set(
  ["Timestamp", "Duration", "Any"].map((name) => `google.protobuf.${name}`),
);

/**
 * Makes JSON exact before protobuf-es reads it, in its place: numbers become what their field
 * holds, to the last digit. What stands for nothing is refused: a day that no month has, a
 * duration with something behind it, a number with a space.
 *
 * @throws Error where a value stands for nothing; `describeJsonProblem` says which
 */
export function exactMessage(message: DescMessage, json: JsonValue, registry: Registry): JsonValue {
  if (hasOwnJsonForm(message)) return exactOwnForm(message, json, registry);
  if (!isObject(json)) return plain(json);
  const fields = fieldsByName(message);
  for (const [key, value] of Object.entries(json)) {
    const field = fields.get(key) ?? extensionOf(key, registry);
    json[key] = field === undefined ? plain(value) : exactField(field, value, registry);
  }
  return json;
}

/** The same of one field. */
function exactField(field: DescField, json: JsonValue, registry: Registry): JsonValue {
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
        checkMapKey(field.mapKey, key);
        json[key] = exactItem(field, field.mapKind, item, registry);
      }
      return json;
    default:
      return exactItem(field, field.fieldKind, json, registry);
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
  registry: Registry,
): JsonValue {
  if (kind === "message" && message !== undefined) return exactMessage(message, json, registry);
  return kind === "scalar" && scalar !== undefined ? exactScalar(scalar, json) : plain(json);
}

function exactOwnForm(message: DescMessage, json: JsonValue, registry: Registry): JsonValue {
  switch (message.typeName) {
    case "google.protobuf.Timestamp":
      return typeof json === "string" && !isTimeText(json) ? refuse() : plain(json);
    case "google.protobuf.Duration":
      return typeof json === "string" && !isDurationText(json) ? refuse() : plain(json);
    case "google.protobuf.Any":
      return exactAny(json, registry);
  }
  const value = isWrapperMessage(message) ? message.fields[0] : undefined;
  return value?.fieldKind === "scalar" ? exactScalar(value.scalar, json) : plain(json);
}

function exactAny(json: JsonValue, registry: Registry): JsonValue {
  const type = isObject(json) ? json["@type"] : undefined;
  if (!isObject(json) || typeof type !== "string") return plain(json);
  const message = registry.getMessage(type.slice(type.lastIndexOf("/") + 1));
  if (message === undefined) return plain(json);
  const { value, ...rest } = json;
  if (!hasOwnJsonForm(message)) {
    // Some write an Empty as what has a form of its own, and some as a message without fields.
    const isEmpty = message.typeName === "google.protobuf.Empty" && isEmptyObject(value);
    return isEmpty ? rest : exactMessage(message, json, registry);
  }
  // protobuf-es would forget what stands beside the value.
  if (Object.keys(rest).length > 1) refuse();
  if (value !== undefined) json["value"] = exactMessage(message, value, registry);
  return json;
}

/** JSON with numbers as JavaScript has them. */
function plain(json: JsonValue): JsonValue {
  if (typeof json !== "object" || json === null) return json;
  if (json instanceof LongNumber) return plainNumber(json);
  const items = json as JsonObject;
  for (const key of Object.keys(items)) items[key] = plain(items[key] as JsonValue);
  return json;
}

function extensionOf(key: string, registry: Registry): DescField | undefined {
  if (!key.startsWith("[") || !key.endsWith("]")) return undefined;
  return registry.getExtension(key.slice(1, -1)) as DescField | undefined;
}

function isObject(json: JsonValue): json is JsonObject {
  if (json instanceof LongNumber) return false;
  return typeof json === "object" && json !== null && !Array.isArray(json);
}

function isEmptyObject(json: JsonValue | undefined): boolean {
  return json !== undefined && isObject(json) && Object.keys(json).length === 0;
}
