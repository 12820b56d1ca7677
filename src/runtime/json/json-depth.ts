import type {
  DescExtension,
  DescField,
  DescMessage,
  JsonValue,
  Registry,
} from "@bufbuild/protobuf";
import { MAX_DEPTH, tooDeep } from "../wire/message-depth.ts";
import { fieldsByName, hasOwnJsonForm } from "./field-names.ts";
import { entryPath, isObject } from "./json-parts.ts";

/** The most messages that one bracket of JSON is: a Struct, the entry of a key, and its value. */
const MOST_PER_BRACKET = 3;

/**
 * Refuses JSON that is a deeper message than others decode. JSON shows that only with the types: brackets of a
 * Struct are three messages each.
 *
 * @param brackets how deep its brackets nest: most JSON is too flat to be looked at
 * @throws ServiceError INVALID_ARGUMENT, with the field
 */
export function refuseDeepJson(
  message: DescMessage,
  json: JsonValue,
  { registry, brackets }: { readonly registry: Registry; readonly brackets: number },
): void {
  if (brackets * MOST_PER_BRACKET > MAX_DEPTH)
    enterMessage({ registry, path: "" }, message, json, 0);
}

/** Where a message is. */
interface Place {
  readonly registry: Registry;
  readonly path: string;
}

function enterMessage(place: Place, message: DescMessage, json: JsonValue, depth: number): void {
  if (depth > MAX_DEPTH) throw tooDeep(place.path);
  if (hasOwnJsonForm(message)) return enterOwnForm(place, message, json, depth);
  // Anything else is refused when it is decoded.
  if (!isObject(json)) return;
  const fields = fieldsByName(message);
  for (const [key, value] of Object.entries(json)) {
    const field = fields.get(key) ?? place.registry.getExtension(key.slice(1, -1));
    if (field === undefined || value === null) continue;
    const path = place.path === "" ? key : `${place.path}.${key}`;
    enterField({ ...place, path }, field, value, depth);
  }
}

function enterField(
  place: Place,
  { fieldKind, message }: DescField | DescExtension,
  value: JsonValue,
  depth: number,
): void {
  if (fieldKind === "map") return enterMap(place, message, value, depth);
  if (message === undefined) return;
  if (fieldKind === "message") return enterMessage(place, message, value, depth + 1);
  if (!Array.isArray(value)) return;
  for (const [index, item] of value.entries()) {
    enterMessage({ ...place, path: `${place.path}[${index}]` }, message, item, depth + 1);
  }
}

/** Each entry of a map is a message, with the key and the value. */
function enterMap(
  place: Place,
  message: DescMessage | undefined,
  json: JsonValue,
  depth: number,
): void {
  if (!isObject(json)) return;
  for (const [key, value] of Object.entries(json)) {
    if (depth + 1 > MAX_DEPTH) throw tooDeep(place.path);
    if (message === undefined) continue;
    enterMessage({ ...place, path: entryPath(place.path, key) }, message, value, depth + 2);
  }
}

function enterOwnForm(place: Place, message: DescMessage, json: JsonValue, depth: number): void {
  switch (message.typeName) {
    case "google.protobuf.Struct":
      return enterStruct(place, json, depth);
    case "google.protobuf.ListValue":
      return enterList(place, json, depth);
    case "google.protobuf.Value":
      return enterValue(place, json, depth);
    case "google.protobuf.Any": {
      const name = isObject(json) ? json["@type"] : undefined;
      const type = typeof name === "string" ? name.slice(name.lastIndexOf("/") + 1) : "";
      const inner = place.registry.getMessage(type);
      if (inner === undefined || !isObject(json)) return;
      const content = hasOwnJsonForm(inner) ? (json["value"] ?? null) : json;
      return enterMessage(place, inner, content, depth + 1);
    }
  }
}

function enterValue(place: Place, json: JsonValue, depth: number): void {
  if (depth > MAX_DEPTH) throw tooDeep(place.path);
  if (Array.isArray(json)) enterList(place, json, depth + 1);
  else if (isObject(json)) enterStruct(place, json, depth + 1);
}

function enterList(place: Place, json: JsonValue, depth: number): void {
  if (depth > MAX_DEPTH) throw tooDeep(place.path);
  if (!Array.isArray(json)) return;
  for (const item of json) enterValue(place, item, depth + 1);
}

function enterStruct(place: Place, json: JsonValue, depth: number): void {
  if (depth > MAX_DEPTH) throw tooDeep(place.path);
  if (!isObject(json)) return;
  for (const value of Object.values(json)) enterValue(place, value, depth + 2);
}
